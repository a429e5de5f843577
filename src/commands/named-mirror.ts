import { readFileSync } from "node:fs";
import { hostname as machineName } from "node:os";
import { findHostToken } from "../config/environment.ts";
import type { Configuration } from "../config/load.ts";
import { failure, type Failure, isFailure } from "../errors/index.ts";
import type { HttpClient } from "../origin/http/http-client.ts";
import { formatMirrorUrl } from "../server/web/client-instructions.ts";
import { layOutStore } from "../store/layout.ts";
import { wireNamedHost } from "../wiring/clients.ts";
import { closing } from "../wiring/open-mirror.ts";
import type { Flags } from "./command.ts";

/** Options of commands that ask a running mirror where one is named. */
export interface MirrorFlags extends Flags {
  readonly mirror?: string;
  readonly ca?: string;
}

export function refuseLoneAuthority({ mirror, ca }: MirrorFlags): void {
  if (mirror === undefined && ca !== undefined)
    throw failure(
      "configuration",
      "--ca",
      "it is for --mirror only",
      "leave it out",
    );
}

/** A running mirror that a command asks. */
interface NamedMirror {
  /** The base of its network mirror protocol. */
  readonly base: URL;
  /** PEM certificates to trust, beside the machine's. */
  readonly ca: string | undefined;
  /** Token that clients have for its host in the environment. */
  readonly token: string | undefined;
}

/** Reads the mirror that `--mirror` names, and `--ca`. */
export function nameMirror(url: string, ca: string | undefined): NamedMirror {
  const base = parseMirrorUrl(url);
  const authority = ca === undefined ? undefined : readAuthority(ca);
  return { base, ca: authority, token: findHostToken(base) };
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
      return readAuthority(tls.certificate);
    case "self-signed":
      return readOwnAuthority(layOutStore(storage.directory).tls.authority);
  }
}

/** Milliseconds that a person waits: longer than a mirror takes, which may have to ask its own origins. */
const patience = 20_000;

/** Opens a client for a mirror. */
export function openNamed(
  configuration: Pick<Configuration, "proxy" | "limits">,
  named: NamedMirror,
): HttpClient & AsyncDisposable {
  const limits = {
    ...configuration.limits,
    ...{ firstByte: patience, answer: patience },
  };
  const { base, ca, token } = named;
  return closing(wireNamedHost({ ...configuration, limits }, base, ca, token));
}

/** Asks a mirror for the document at a path from its base. */
export async function askMirror(
  http: HttpClient,
  base: URL,
  path: string,
  signal: AbortSignal,
) {
  try {
    return await http.fetchJson(new URL(path, base), signal);
  } catch (error) {
    throw isFailure(error, "origin-credentials")
      ? wantToken(base, error)
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
export function readOwnAuthority(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw failure("no-authority", file, { cause });
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

function readAuthority(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw failure(
      "configuration",
      "--ca",
      `${path} cannot be read (${code})`,
      "check the path and its permissions",
      { cause: error },
    );
  }
}
