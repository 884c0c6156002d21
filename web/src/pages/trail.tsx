import { Page } from '../parts/page.tsx';

export function TrailPage() {
  return <Page title="trail">{null}</Page>;
}
