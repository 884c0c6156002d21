import { Page } from '../parts/page.tsx';

export function VerifyPage() {
  return <Page title="verify">{null}</Page>;
}
