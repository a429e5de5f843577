import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

interface NotificationSettings {
  /** NOTIFY_SOCKET. */
  readonly socket: string | undefined;
  /** WATCHDOG_USEC in milliseconds: systemd ends a daemon that is silent for so long. */
  readonly watchdogMs: number | undefined;
  readonly onFailure: (error: Error) => void;
}

/**
 * Tells systemd how the daemon is (sd_notify(3)). Node cannot open the
 * datagram socket of the protocol, so each message is sent by the program
 * systemd-notify; a unit therefore needs NotifyAccess=all. Without a socket
 * nothing is sent; a message that cannot be sent goes to `onFailure`.
 */
export class ServiceNotification {
  readonly #settings: NotificationSettings;
  #last: Promise<void> = Promise.resolve();
  #watchdog: NodeJS.Timeout | undefined;

  constructor(settings: NotificationSettings) {
    this.#settings = settings;
  }

  /** From the first time on it gives a sign of life twice in every watchdog interval: an event loop that hangs gives none. */
  ready(status: string): Promise<void> {
    const { watchdogMs } = this.#settings;
    const tell = () => void this.#send("WATCHDOG=1");
    if (watchdogMs !== undefined)
      this.#watchdog ??= setInterval(tell, watchdogMs / 2).unref();
    return this.#send("READY=1", `STATUS=${status.replaceAll(/\s+/g, " ")}`);
  }

  /** `ready` has to follow, whether or not the reload went well. */
  reloading(): Promise<void> {
    return this.#send("RELOADING=1");
  }

  stopping(): Promise<void> {
    clearInterval(this.#watchdog);
    return this.#send("STOPPING=1");
  }

  /** One program at a time, so that messages arrive in the order in which they were sent. */
  #send(...assignments: readonly string[]): Promise<void> {
    const { socket, onFailure } = this.#settings;
    if (socket === undefined) return Promise.resolve();
    this.#last = this.#last.then(async () => {
      try {
        // Waiting for systemd (no --no-block) keeps the program alive until systemd has identified its unit. A message of
        // an exited process is dropped.
        await run("systemd-notify", assignments, {
          env: { NOTIFY_SOCKET: socket, PATH: "/usr/bin:/bin" },
          timeout: 5_000,
          killSignal: "SIGKILL",
        });
      } catch (error) {
        onFailure(error as Error);
      }
    });
    return this.#last;
  }
}
