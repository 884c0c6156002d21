import type { StorageDriver } from '../driver.ts';
import type { Lists } from '../store.ts';
import { files } from './files.ts';
import { reading } from './read.ts';
import { removeList } from './remove.ts';
import { states } from './states.ts';
import { upload } from './upload.ts';
import { work } from './work.ts';

export const lists = (driver: StorageDriver): Lists => ({
  ...upload(driver),
  ...files(driver),
  ...reading(driver),
  ...states(driver),
  ...work(driver),
  record: (account, id, outcomes) => driver.bulk.record(account, id, outcomes),
  remove: (account, id, signal) => removeList(driver, account, id, signal),
});
