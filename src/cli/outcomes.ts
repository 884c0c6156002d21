import type { Command } from 'commander';
import { createMailvet, MailvetError } from '../../sdk/src/index.ts';
import { messagesOf } from '../files/mail-report.ts';
import { messageOf } from '../kernel/errors.ts';
import { counted } from '../kernel/format.ts';
import { command, optionsFrom, printable, printResult, UsageError } from './command.ts';
import { openInputFile } from './input-file.ts';
import { explainServerError } from './server-error.ts';

/** EX_TEMPFAIL of sysexits.h: a mail server keeps the message, and tries again. */
const EXIT_TEMPFAIL = 75;

interface OutcomesFlags {
  readonly json?: boolean;
  readonly source?: string;
}

export function outcomesCommand(): Command {
  return command('outcomes', 'Report bounces and complaints to a server: one message, or an mbox file.', 'outcomes')
    .argument('[file]', 'a message or an mbox file; - for standard input', '-')
    .option('--source <name>', 'your name of what sent the mail')
    .action(async (file: string, flags: OutcomesFlags) => {
      const sums = { messages: 0, recorded: 0, duplicates: 0, errors: 0, disregarded: 0 };
      try {
        await reportFile(file, flags, sums);
      } catch (error) {
        // Whatever it is, it is not the message's fault: a mail server would return it to nobody.
        const done = sums.messages === 0 ? '' : ` ${counted(sums.messages, 'message')} had been reported.`;
        process.stderr.write(
          flags.json
            ? `${JSON.stringify({ error: messageOf(error), ...sums })}\n`
            : `mailvet: ${printable(`${messageOf(error)}${done}`)}\n`,
        );
        process.exitCode = EXIT_TEMPFAIL;
        return;
      }
      const { messages, recorded, duplicates, errors, disregarded } = sums;
      const text = `${counted(messages, 'message')}: ${counted(recorded, 'outcome')} recorded, ${duplicates} known before, ${errors} with an error, ${disregarded} that count as nothing.`;
      printResult(flags, sums, text);
    });
}

/** Adds to `sums` what has been reported, also where it throws later. */
async function reportFile(
  file: string,
  flags: OutcomesFlags,
  sums: { messages: number; recorded: number; duplicates: number; errors: number; disregarded: number },
): Promise<void> {
  const { url, key } = optionsFrom(flags, 'outcomes');
  if (key === null) throw new UsageError('set MAILVET_KEY to an API key of the server with the scope outcomes.');
  const { outcomes } = createMailvet({ url, key });
  const { handle } = file === '-' ? { handle: null } : await openInputFile(file, file);
  const bytes = handle === null ? process.stdin : handle.createReadStream();
  for await (const message of messagesOf(bytes)) {
    const reply = await outcomes
      .reportMessage(new Uint8Array(message), { source: flags.source, via: 'command' })
      .catch((error: unknown) => {
        throw error instanceof MailvetError ? new Error(explainServerError(error, url)) : error;
      });
    sums.messages += 1;
    sums.disregarded += reply.disregarded.length;
    for (const { result } of reply.outcomes) {
      if (result === 'recorded') sums.recorded += 1;
      else if (result === 'duplicate') sums.duplicates += 1;
      else sums.errors += 1;
    }
  }
}
