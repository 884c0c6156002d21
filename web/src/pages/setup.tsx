import { Page } from '../parts/page.tsx';

export function SetupPage() {
  return <Page title="setup">{null}</Page>;
}
