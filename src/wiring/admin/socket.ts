import { chmodSync } from "node:fs";
import { chmod, mkdir, rm } from "node:fs/promises";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { StoreLayout } from "../../store/layout.ts";
import type { ReadableFile } from "../../mirror/bundles/bundle-file.ts";
import { inTime } from "../../concurrency/in-time.ts";
import { readLines, sendLine } from "./lines.ts";
import {
  beat,
  input,
  largestRequest,
  request,
  silence,
  type AdminRequest,
} from "./messages.ts";
import { RemoteFile } from "./named-file.ts";
import { isDaemonUser, nameOperator, takeUser } from "./operator.ts";

/** A command of another process, as the daemon runs it. */
export interface AdminCommand extends AdminRequest {
  /** False for a user who has less rights than the daemon. */
  readonly isDaemonUser: boolean;
  /** Resolves when the text was taken, with false when it has no reader any longer. */
  readonly stdout: (text: string) => Promise<boolean>;
  readonly stderr: (text: string) => Promise<boolean>;
  /** Opens the file that the command names. */
  readonly openFile: (path: string) => Promise<ReadableFile>;
  /** Aborted when the command is interrupted or ends, and when the daemon stops. */
  readonly signal: AbortSignal;
}

interface SocketParts {
  readonly layout: StoreLayout;
  readonly version: string;
  /** Returns the exit status; never rejects. */
  readonly run: (command: AdminCommand) => Promise<number>;
  readonly onRefused: (error: unknown) => void;
}

/** Commands that run at once. */
const most = 16;

/** The socket where the daemon runs verbs for commands of its own user, its group and root. */
export class AdminSocket {
  readonly #parts: SocketParts;
  readonly #server = createServer((socket) => void this.#accept(socket));
  readonly #running = new Map<Promise<void>, AbortController>();

  constructor(parts: SocketParts) {
    this.#parts = parts;
  }

  /** Call it with the lock of the store: a socket that is there was left by a killed daemon. */
  async listen(): Promise<void> {
    const { admin, operators } = this.#parts.layout;
    await rm(admin, { force: true });
    await mkdir(operators, { recursive: true });
    // Everyone who can open the socket can prove who it is, and remove nothing of others.
    await chmod(operators, 0o1770);
    this.#server.listen(admin);
    await once(this.#server, "listening");
    chmodSync(admin, 0o660);
  }

  /** Ends the commands that run; resolves when they have ended. */
  async close(): Promise<void> {
    this.#server.close();
    for (const stop of this.#running.values()) stop.abort();
    await Promise.all(this.#running.keys());
  }

  async #accept(socket: Socket): Promise<void> {
    socket.on("error", () => undefined);
    if (this.#running.size >= most) {
      await sendLine(socket, { refused: `it runs ${most} commands already` });
      socket.destroy();
      return;
    }
    const stop = new AbortController();
    const served = this.#serve(socket, stop)
      .catch((error: unknown) => this.#refuse(socket, error))
      .finally(() => {
        socket.destroySoon();
        this.#running.delete(served);
      });
    this.#running.set(served, stop);
  }

  async #refuse(socket: Socket, error: unknown): Promise<void> {
    this.#parts.onRefused(error);
    await sendLine(socket, { refused: (error as Error).message });
  }

  async #serve(socket: Socket, stop: AbortController): Promise<void> {
    const { layout, version, run } = this.#parts;
    const nonce = crypto.randomUUID();
    const lines = readLines(socket, largestRequest);
    await sendLine(socket, { provender: version, nonce });
    const first = await inTime(lines.next(), silence, () => {
      throw new Error("a command sent no request");
    });
    if (first.done === true) return;
    const parsed = request.safeParse(first.value);
    if (!parsed.success) throw new Error("its request is in another shape");
    const asked = parsed.data;
    const user = await takeUser(layout, nonce);
    const operator = await nameOperator(user, asked.operator);
    const file = new RemoteFile(socket);
    // The command asks for the end, or is gone.
    const end = () => {
      stop.abort();
      file.end();
    };
    void takeAnswers(lines, file, end).then(end, end);
    const alive = setInterval(
      () => void sendLine(socket, { alive: true }),
      beat,
    );
    try {
      const status = await run({
        ...{ ...asked, operator, signal: stop.signal },
        isDaemonUser: isDaemonUser(user),
        stdout: (stdout) => sendLine(socket, { stdout }),
        stderr: (stderr) => sendLine(socket, { stderr }),
        openFile: (path) => file.open(path),
      });
      await sendLine(socket, { status });
    } finally {
      clearInterval(alive);
    }
  }
}

/** Hands answers about the file on; resolves when the command is gone. */
async function takeAnswers(
  lines: AsyncGenerator,
  file: RemoteFile,
  stop: () => void,
): Promise<void> {
  for await (const line of lines) {
    const said = input.parse(line);
    if ("stop" in said) stop();
    else file.take(said);
  }
}
