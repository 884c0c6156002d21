import { Page } from '../parts/page.tsx';

export function InvitationPage() {
  return <Page title="invitation">{null}</Page>;
}
