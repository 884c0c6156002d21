import { Page } from '../parts/page.tsx';

export function LogEntryPage() {
  return <Page title="log-entry">{null}</Page>;
}
