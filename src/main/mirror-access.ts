import { readFileSync } from "node:fs";
import { loadHostToken, type Configuration } from "../config/load.ts";
import { failure } from "../errors/index.ts";
import { wireNamedHost } from "../wiring/clients.ts";

/** A running mirror that a command asks. */
interface NamedMirror {
  /** The base of its network mirror protocol. */
  readonly base: URL;
  /** PEM certificates to trust, beside the machine's. */
  readonly ca: string | undefined;
  /** Token that clients have for its host in the environment. */
  readonly token: string | undefined;
}

/** Reads the mirror named by the option `option`, and `--ca`. */
export function nameMirror(
  option: string,
  url: string,
  ca: string | undefined,
): NamedMirror {
  const base = parseMirrorUrl(option, url);
  const authority = ca === undefined ? undefined : readAuthority(ca);
  return { base, ca: authority, token: loadHostToken(base) };
}

/** Milliseconds that a person waits: longer than a mirror takes, which may have to ask its own origins. */
const patience = 20_000;

/** Opens a client for a mirror. */
export function openMirror(configuration: Configuration, named: NamedMirror) {
  const { base } = named;
  const limits = {
    ...configuration.limits,
    ...{ firstByte: patience, answer: patience },
  };
  const http = wireNamedHost({ ...configuration, limits }, base, named);
  return { base, http, [Symbol.asyncDispose]: () => http.close() };
}

/** The mirror's own URL, or the one that its clients have in `network_mirror`. */
function parseMirrorUrl(option: string, text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol !== "https:")
    throw failure(
      "configuration",
      option,
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
