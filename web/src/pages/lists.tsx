import { Page } from '../parts/page.tsx';

export function ListsPage() {
  return <Page title="lists">{null}</Page>;
}
