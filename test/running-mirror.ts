import { parseSha256 } from "../src/address/hash.ts";
import { blobPath, layOutStore } from "../src/store/layout.ts";
import {
  spawn,
  type ChildProcess,
  type SpawnOptions,
} from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import {
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from "node:http";
import { Agent, request as requestTls } from "node:https";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { stringify } from "yaml";
import type { Configuration } from "../src/config/load.ts";
import type { ListenerLimits } from "../src/server/http/listener.ts";
import { endingWithTests } from "./child-process.ts";
import { endWithFile } from "./file-end.ts";

/** The program that tests start: as it is released, or outside of a run of the tests the source. */
export const program =
  process.env.TESTED_PROGRAM ??
  join(import.meta.dirname, "..", "src", "main.ts");

const limitedDaemon = join(import.meta.dirname, "scenes", "limited-daemon.ts");

/** Compile cache of all processes that tests start; it halves their start. */
export const compiledCode =
  process.env.TESTED_CODE_CACHE ??
  join(import.meta.dirname, "..", "node_modules", ".cache", "compiled");

/** A real daemon in a process of its own, on a free port, with the storage directory given or a new one. */
export interface RunningMirror {
  readonly url: string;
  readonly caFile: string;
  readonly directory: string;
  readonly configFile: string;
  readonly process: ChildProcess;
  /** Output for the operators of clients. */
  readonly printed: string;
  /** Its log so far, one parsed line an entry. */
  readonly log: readonly Record<string, unknown>[];
  get(path: string, options?: GetOptions): Promise<Answer>;
  /** SIGTERM; resolves with the exit status. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

export interface GetOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  /** Reason phrase behind the status. */
  readonly reason: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** False when the transfer was cut. */
  readonly complete: boolean;
  json(): unknown;
}

export interface MirrorOptions {
  /** Merged over a configuration with a free port. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Those of src/config/schema.ts, and of the listener, that have other values in this daemon. */
  readonly limits?: Partial<Configuration["limits"] & ListenerLimits>;
  readonly directory?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
  /** The CA of the configured certificate; the self-signed one by default. */
  readonly caFile?: string;
  /** Program to run; `program` by default. */
  readonly program?: string;
  /** The number of the user and group that it runs as, which own its store. */
  readonly user?: number;
}

export function scratch(name: string): string {
  return mkdtempSync(join(tmpdir(), `provender-${name}-`));
}

/** Writes a configuration, whose origins are the only ones where it has some. */
export function writeConfiguration(
  file: string,
  config: Readonly<Record<string, unknown>>,
): void {
  const off = {
    "registry.terraform.io": "off",
    "registry.opentofu.org": "off",
  };
  const { origins, ...rest } = config;
  const only = origins !== undefined && {
    origins: { ...off, ...(origins as object) },
  };
  writeFileSync(file, stringify({ ...rest, ...only }));
}

export async function startMirror(
  options: MirrorOptions = {},
): Promise<RunningMirror> {
  const directory = options.directory ?? scratch("store");
  const configFile = join(scratch("config"), "provender.yaml");
  const config = {
    listen: { port: 0 },
    storage: { directory },
    ...options.config,
  };
  writeConfiguration(configFile, config);
  const { user, limits } = options;
  if (user !== undefined)
    for (const path of [directory, dirname(configFile)])
      chownSync(path, user, user);
  const args = [
    ...(options.nodeOptions ?? []),
    options.program ?? (limits ? limitedDaemon : program),
    ...["serve", "--config", configFile],
  ];
  const daemon = await startDaemon(process.execPath, args, {
    env: {
      ...{ PATH: process.env.PATH, HOME: directory },
      NODE_COMPILE_CACHE: compiledCode,
      ...(limits && { LIMITS: JSON.stringify(limits) }),
      ...options.env,
    },
    ...(user !== undefined && { uid: user, gid: user }),
  });
  const { url } = daemon;
  const caFile = options.caFile ?? join(directory, "tls", "v1", "ca.pem");
  const agent = url.startsWith("https:")
    ? new Agent({ ca: readFileSync(caFile), keepAlive: false })
    : undefined;
  return {
    ...{ ...daemon, caFile, directory, configFile },
    get: (path, get = {}) => fetchFrom(new URL(path, url), agent, get),
  };
}

/** A daemon by any command line, once it says where it serves; `hard` is the signal that ends it with the tests. */
export async function startDaemon(
  command: string,
  args: readonly string[],
  options: Pick<SpawnOptions, "env" | "uid" | "gid"> = {},
  hard: "KILL" | "TERM" = "KILL",
) {
  const child = spawn(...endingWithTests(command, args, hard), {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exit = once(child, "exit") as Promise<[number | null]>;
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return (await exit)[0];
  };
  endWithFile(() => end("SIGTERM"));
  const log: Record<string, unknown>[] = [];
  createInterface(child.stderr).on("line", (line) => log.push(parseLog(line)));
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const dead = exit.then(([status]) => {
    const said = JSON.stringify(log);
    throw new Error(`provender ended with ${String(status)}: ${said}`);
  });
  // Set-up of a file has no limit of its own.
  const signal = AbortSignal.timeout(120_000);
  while (!printed.includes("serves on "))
    await Promise.race([once(child.stdout, "data", { signal }), dead]);
  dead.catch(() => undefined);
  return {
    process: child as ChildProcess,
    url: /serves on (\S+)/.exec(printed)?.[1] ?? "",
    ...{ log, printed },
    stop: () => end("SIGTERM"),
    kill: async () => {
      await end("SIGKILL");
    },
  };
}

function parseLog(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return { text: line };
  }
}

export async function fetchFrom(
  ...asked: Parameters<typeof openAnswer>
): Promise<Answer> {
  return readAnswer(await openAnswer(...asked));
}

/**
 * One request whose answer is still to be read, nothing followed or retried. The path goes out as it is written, without
 * the tidying of a URL parser.
 */
export async function openAnswer(
  url: URL,
  agent: Agent | undefined,
  { method = "GET", headers = {} }: GetOptions = {},
  rawPath: string = url.pathname + url.search,
): Promise<IncomingMessage> {
  const options = {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port,
    path: rawPath,
    method,
    headers,
  };
  const sent =
    agent === undefined ? request(options) : requestTls({ ...options, agent });
  // The response reports a connection that breaks after the head.
  sent.on("error", () => undefined);
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return response;
}

/** The answer, as far as it came. */
export async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let complete = true;
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch {
    complete = false;
  }
  const body = Buffer.concat(chunks);
  return {
    status: response.statusCode ?? 0,
    reason: response.statusMessage,
    headers: response.headers,
    body,
    complete: complete && response.complete,
    json: () => JSON.parse(body.toString("utf8")) as unknown,
  };
}

/** The file of an archive in a store. */
export function blobOf(
  { directory }: { readonly directory: string },
  sha256: string,
): string {
  return blobPath(layOutStore(directory), parseSha256(sha256));
}
