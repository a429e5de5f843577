import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname as machineName } from "node:os";
import { findHostToken } from "../config/environment.ts";
import type { Configuration } from "../config/load.ts";
import { failure, type Failure, isFailure } from "../errors/index.ts";
import type { HttpClient } from "../origin/http/http-client.ts";
import { formatMirrorUrl } from "../server/web/client-instructions.ts";
import { layOutStore, type StoreLayout } from "../store/layout.ts";
import { wireNamedHost } from "../wiring/clients.ts";
import type { Flags } from "./command.ts";

/** Options of commands that ask a running mirror where one is named. */
export interface MirrorFlags extends Flags {
  readonly mirror?: string;
  readonly ca?: string;
}

export interface NamedMirror {
  /** The base of its network mirror protocol. */
  readonly base: URL;
  /** PEM certificates to trust, beside the machine's. */
  readonly ca: string | undefined;
  /** Token that clients have for its host in the environment. */
  readonly token: string | undefined;
}

export function nameMirror({
  mirror,
  ca,
}: MirrorFlags): NamedMirror | undefined {
  if (mirror !== undefined) {
    const base = parseMirrorUrl(mirror);
    const authority = ca === undefined ? undefined : readAuthority("--ca", ca);
    return { base, ca: authority, token: findHostToken(base) };
  }
  if (ca === undefined) return undefined;
  const problem = "it is for --mirror only";
  throw failure("configuration", "--ca", problem, "leave it out");
}

/** The mirror of this configuration, under the URL that its clients have. */
export function nameLocalMirror(configuration: Configuration): NamedMirror {
  const base = parseMirrorUrl(findUrl(configuration));
  const ca = readLocalAuthority(configuration);
  return { base, ca, token: findHostToken(base) };
}

/** What the mirror of this configuration proves itself by; undefined where it does not. */
export function readLocalAuthority({
  listen: { tls },
  storage,
}: Configuration): string | undefined {
  switch (tls.kind) {
    case "off":
      return undefined;
    case "files":
      return readAuthority("listen.tls", tls.certificate);
    case "self-signed":
      return readOwnAuthority(layOutStore(storage.directory));
  }
}

/** Milliseconds that a person waits: longer than a mirror takes, which may have to ask its own origins. */
const patience = 20_000;

export function openNamed(
  { proxy, limits }: Pick<Configuration, "proxy" | "limits">,
  { base, ca, token }: NamedMirror,
): HttpClient & AsyncDisposable {
  const waiting = { ...limits, firstByte: patience, answer: patience };
  const http = wireNamedHost({ proxy, limits: waiting }, base, ca, token);
  return Object.assign(http, { [Symbol.asyncDispose]: () => http.close() });
}

export async function askMirror(
  http: HttpClient,
  url: URL,
  signal: AbortSignal,
) {
  try {
    return await http.fetchJson(url, signal);
  } catch (error) {
    throw isFailure(error, "origin-credentials")
      ? wantToken(url, error)
      : error;
  }
}

/** Makes the error of a command whose mirror wants a token, or refuses the one that it got. */
export function wantToken(
  { origin, host }: URL,
  cause?: Failure<"origin-credentials">,
): Failure<"origin-credentials"> {
  const words = cause?.words;
  const name = host.replaceAll("-", "__").replaceAll(".", "_");
  return failure(
    "origin-credentials",
    origin,
    words === undefined
      ? "wants a token, and got none or one that it does not take"
      : `refuses the token that it got because ${words}`,
    `set TF_TOKEN_${name} to one that it knows`,
    words,
    { cause },
  );
}

/** The URL of the configuration's own mirror, as clients have it. */
export function findUrl({ listen, publicUrl }: Configuration): string {
  if (publicUrl !== undefined) return publicUrl.href;
  if (listen.port === 0)
    throw failure(
      "configuration",
      "listen.port",
      "it is any free one, which the mirror prints at its start",
      'set it, or "publicUrl"',
    );
  const secure = listen.tls.kind !== "off";
  const name = listen.names[0] ?? machineName();
  return formatMirrorUrl({ ...listen, secure }, name);
}

/** The CA of a self-signed certificate. */
export function readOwnAuthority({ tls }: StoreLayout): string {
  try {
    return new X509Certificate(readFileSync(tls.authority)).toString();
  } catch (cause) {
    throw failure("no-authority", tls.authority, { cause });
  }
}

/** The mirror's own URL, or the one that its clients have in `network_mirror`. */
function parseMirrorUrl(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol !== "https:")
    throw failure(
      "configuration",
      "--mirror",
      `${JSON.stringify(text)} is not a URL`,
      "give one that starts with https://",
    );
  const path = url.pathname === "/" ? "providers/" : "";
  return new URL(`${url.pathname.replace(/\/?$/, "/")}${path}`, url);
}

function readAuthority(where: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    const problem = `${path} cannot be read (${code})`;
    const remedy = "check the path and its permissions";
    throw failure("configuration", where, problem, remedy, { cause: error });
  }
}
