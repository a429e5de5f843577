import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const programTimeoutMs = 5000;

/**
 * Tells systemd how the daemon is (sd_notify(3)). Node cannot open the
 * datagram socket of the protocol, so each message is sent by the program
 * systemd-notify; a unit therefore needs NotifyAccess=all. Without a socket
 * nothing is sent; a message that cannot be sent goes to `onFailure`.
 */
export class ServiceNotification {
  readonly #socket: string | undefined;
  readonly #watchdogMs: number | undefined;
  readonly #onFailure: (error: Error) => void;
  #last: Promise<void> = Promise.resolve();
  #watchdog: NodeJS.Timeout | undefined;

  constructor(options: {
    /** NOTIFY_SOCKET. */
    readonly socket: string | undefined;
    /** WATCHDOG_USEC in milliseconds: systemd ends a daemon that is silent for so long. */
    readonly watchdogMs: number | undefined;
    readonly onFailure: (error: Error) => void;
  }) {
    this.#socket = options.socket;
    this.#watchdogMs = options.watchdogMs;
    this.#onFailure = options.onFailure;
  }

  ready(status: string): Promise<void> {
    return this.#send("READY=1", formatStatus(status));
  }

  /** `ready` has to follow, whether or not the reload went well. */
  reloading(): Promise<void> {
    return this.#send("RELOADING=1");
  }

  stopping(): Promise<void> {
    return this.#send("STOPPING=1");
  }

  /** Gives a sign of life twice in every watchdog interval: an event loop that hangs gives none. */
  startWatchdog(): void {
    if (this.#socket === undefined || this.#watchdogMs === undefined) return;
    this.#watchdog = setInterval(
      () => void this.#send("WATCHDOG=1"),
      this.#watchdogMs / 2,
    ).unref();
  }

  stopWatchdog(): void {
    clearInterval(this.#watchdog);
  }

  /** One program at a time, so that messages arrive in the order in which they were sent. */
  #send(...assignments: readonly string[]): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined) return Promise.resolve();
    this.#last = this.#last.then(() =>
      notify(socket, assignments).catch((error: unknown) =>
        this.#onFailure(error as Error),
      ),
    );
    return this.#last;
  }
}

// Waiting for systemd (no --no-block) keeps the program alive until systemd has
// identified its unit. A message of an exited process is dropped.
async function notify(
  socket: string,
  assignments: readonly string[],
): Promise<void> {
  await run("systemd-notify", assignments, {
    env: { NOTIFY_SOCKET: socket, PATH: "/usr/bin:/bin" },
    timeout: programTimeoutMs,
    killSignal: "SIGKILL",
  });
}

/** A status is one line. */
function formatStatus(status: string): string {
  return `STATUS=${status.replaceAll(/\s+/g, " ")}`;
}
