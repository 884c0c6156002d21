import { Page } from '../parts/page.tsx';

export function VerifyEmailPage() {
  return <Page title="verify-email">{null}</Page>;
}
