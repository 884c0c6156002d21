/**
 * Tells systemd how the service is (sd_notify(3)): started, stopping, alive. Node has no datagram sockets with a path,
 * so `systemd-notify` sends the messages, which every host with systemd has. Its unit needs `NotifyAccess=all`.
 */
import { spawn } from 'node:child_process';
import type { serviceManager } from '../config/read.ts';
import type { Logger } from '../kernel/log.ts';

const NOTIFY_TIMEOUT_MS = 10_000;

export class Systemd {
  readonly #manager: ReturnType<typeof serviceManager>;
  readonly #logger: Logger;
  #watchdog: NodeJS.Timeout | null = null;

  constructor(manager: ReturnType<typeof serviceManager>, logger: Logger) {
    this.#manager = manager;
    this.#logger = logger;
  }

  /** Says that the service is up, and from now on twice in each period of the watchdog that this thread is alive. */
  ready(status: string): void {
    this.#tell('READY=1', `STATUS=${status}`);
    const { watchdogMs } = this.#manager;
    if (watchdogMs !== null) this.#watchdog = setInterval(() => this.#tell('WATCHDOG=1'), watchdogMs / 2).unref();
  }

  /** The watchdog goes on until the process ends. */
  stopping(): void {
    this.#tell('STOPPING=1', 'STATUS=Finishing what is under way');
  }

  #tell(...messages: readonly string[]): void {
    if (!this.#manager.listens) return;
    const sending = spawn('systemd-notify', messages, { stdio: 'ignore', timeout: NOTIFY_TIMEOUT_MS });
    sending.on('error', (error) => this.#failed(error));
    sending.on('exit', (code) => {
      if (code !== 0) this.#failed(new Error(`systemd-notify ended with ${code}`));
    });
  }

  /** The next attempts would fail as well, and systemd says itself what it misses. */
  #failed(error: Error): void {
    if (this.#watchdog !== null) clearInterval(this.#watchdog);
    this.#logger.error({ err: error }, 'systemd could not be notified of the state of this service');
  }
}
