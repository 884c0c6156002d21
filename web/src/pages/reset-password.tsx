import { Page } from '../parts/page.tsx';

export function ResetPasswordPage() {
  return <Page title="reset-password">{null}</Page>;
}
