import { Page } from '../parts/page.tsx';

export function DoctorPage() {
  return <Page title="doctor">{null}</Page>;
}
