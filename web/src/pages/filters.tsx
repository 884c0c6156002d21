import { Page } from '../parts/page.tsx';

export function FiltersPage() {
  return <Page title="filters">{null}</Page>;
}
