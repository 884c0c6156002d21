export { csvLine } from '../../kernel/csv.ts';

export const CSV_TYPE = 'text/csv; charset=utf-8';
/** https://jsonlines.org */
export const JSON_LINES = 'application/jsonl';
export const asDownload = (name: string) => ({ 'content-disposition': `attachment; filename="${name}"` });
