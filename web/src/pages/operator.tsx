import { Page } from '../parts/page.tsx';

export function OperatorPage() {
  return <Page title="operator">{null}</Page>;
}
