import { Page } from '../parts/page.tsx';

export function SignUpPage() {
  return <Page title="sign-up">{null}</Page>;
}
