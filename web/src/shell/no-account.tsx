import { Empty } from '../parts/empty.tsx';

export function NoAccount() {
  return (
    <Empty title="You are in no account">
      Somebody who owns one can invite you, or who runs this service can add you: mailvet user create --email …
      --account …
    </Empty>
  );
}
