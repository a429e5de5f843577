import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { failure, ProvenderError } from "../../errors/index.ts";
import type { StoreLayout } from "../../store/layout.ts";
import { readLines, sendLine } from "./lines.ts";
import {
  greeting,
  largestOutput,
  output,
  silence,
  type AdminRequest,
} from "./messages.ts";
import { NamedFile } from "./named-file.ts";
import { proveUser } from "./operator.ts";

/** Request of a command, and where its output goes. */
interface Asking {
  readonly version: string;
  readonly request: AdminRequest;
  /** Path of the one file that the daemon may have read to it. */
  readonly file: string | undefined;
  /** Resolves when the text was taken, with false when it has no reader any longer. */
  readonly stdout: (text: string) => Promise<boolean>;
  readonly stderr: (text: string) => unknown;
  readonly signal: AbortSignal;
}

/**
 * Has the daemon of a store run a verb. Returns the exit status; undefined when no daemon listens, or not for this
 * user.
 */
export async function askDaemon(
  layout: StoreLayout,
  asking: Asking,
): Promise<number | undefined> {
  const socket = await connectTo(layout.admin);
  if (socket === undefined) return undefined;
  const { directory } = layout;
  const stop = () => void sendLine(socket, { stop: true });
  asking.signal.addEventListener("abort", stop);
  socket.on("timeout", () =>
    socket.destroy(failure("daemon-silent", directory, `${silence / 1000} s`)),
  );
  socket.setTimeout(silence);
  try {
    return await converse(socket, layout, asking);
  } catch (error) {
    if (error instanceof ProvenderError) throw error;
    throw failure("daemon-lost", directory, { cause: error });
  } finally {
    asking.signal.removeEventListener("abort", stop);
    socket.destroy();
  }
}

async function converse(
  socket: Socket,
  layout: StoreLayout,
  asking: Asking,
): Promise<number> {
  const lines = readLines(socket, largestOutput);
  await greet(greeting.parse((await lines.next()).value), layout, asking);
  await sendLine(socket, asking.request);
  const file = new NamedFile(asking.file);
  try {
    for await (const line of lines) {
      const said = output.parse(line);
      if ("status" in said) return said.status;
      if ("refused" in said)
        throw failure("daemon-refused", layout.directory, said.refused);
      if ("stderr" in said) asking.stderr(said.stderr);
      if ("open" in said || "read" in said)
        await sendLine(socket, await file.answer(said));
      if (!("stdout" in said)) continue;
      // Nothing is read while the reader of the output is slow.
      socket.setTimeout(0);
      if (!(await asking.stdout(said.stdout))) return 0;
      socket.setTimeout(silence);
    }
    throw new Error("the daemon closed the connection");
  } finally {
    await file.close();
  }
}

/** Checks who listens, and proves who asks. */
async function greet(
  said: ReturnType<typeof greeting.parse>,
  layout: StoreLayout,
  { version }: Asking,
): Promise<void> {
  const { directory } = layout;
  if ("refused" in said)
    throw failure("daemon-refused", directory, said.refused);
  if (said.provender !== version)
    throw failure("daemon-version", directory, said.provender, version);
  await proveUser(layout, said.nonce);
}

/** Codes for a socket that is missing, was left by a killed daemon, or is not for this user. */
const absent = new Set(["ENOENT", "ECONNREFUSED", "EACCES", "ENOTDIR"]);

async function connectTo(path: string): Promise<Socket | undefined> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return socket;
  } catch (error) {
    if (absent.has((error as NodeJS.ErrnoException).code ?? ""))
      return undefined;
    throw error;
  }
}
