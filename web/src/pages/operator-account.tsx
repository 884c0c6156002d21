import { Page } from '../parts/page.tsx';

export function OperatorAccountPage() {
  return <Page title="operator-account">{null}</Page>;
}
