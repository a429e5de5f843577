import { X509Certificate } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { access, readdir, rm, statfs, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { dirname } from "node:path";
import { EnvHttpProxyAgent, request } from "undici";
import { ProvenderError } from "../../errors/index.ts";
import { describeFailure } from "../../store/file-failure.ts";
import { stagingPath, type StoreLayout } from "../../store/layout.ts";
import { checkStoreVersion } from "../../store/storage-directory.ts";
import { actAsOwner } from "../../store/storage-owner.ts";
import { wantToken } from "../lock/asked-mirror.ts";
import { formatAmount } from "../output/table.ts";
import { formatDocument } from "../output/report.ts";

/** A sentence on what was found, and one on what to do where it is wrong. */
export interface Check {
  readonly check:
    "configuration" | "storage" | "certificate" | "origin" | "mirror";
  readonly state: "ok" | "warn" | "fail";
  readonly found: string;
  readonly remedy: string | null;
}

type Subject = Check["check"];

export function good(check: Subject, found: string): Check {
  return { check, state: "ok", found, remedy: null };
}

export function fail(check: Subject, found: string, remedy: string): Check {
  return { check, state: "fail", found, remedy };
}

/** Fails a check by an error of ours; throws any other. */
export function failBy(check: Subject, error: unknown): Check {
  if (!(error instanceof ProvenderError)) throw error;
  const { sentence, remedy: text = "look at what is named there" } = error;
  const remedy = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  return fail(check, `${sentence}.`, remedy);
}

/** `provender doctor`: prints what was found; returns the exit status, 1 when a check fails. */
export function tellChecks(
  checks: readonly Check[],
  json: boolean,
  stdout: (text: string) => void,
): number {
  const failures = checks.filter(({ state }) => state === "fail").length;
  const ok = failures === 0;
  stdout(json ? formatDocument({ ok, checks }) : checks.map(format).join(""));
  return ok ? 0 : 1;
}

function format({ check, state, found, remedy }: Check): string {
  const line = `${state.padEnd(4)}  ${check.padEnd(13)}  ${found}\n`;
  return remedy === null ? line : `${line}${" ".repeat(21)}${remedy}\n`;
}

/** Bytes that are written to see whether the disk takes them. */
const sample = 64 * 1024;

/** The storage directory as the daemon's user finds it; root acts as its owner from here on. Makes nothing that is not there. */
export async function examineStorage(
  layout: StoreLayout,
  minFree: number,
): Promise<Check> {
  const { directory, blobs, staging } = layout;
  const file = stagingPath(layout, "doctor");
  try {
    actAsOwner(layout);
    await checkStoreVersion(layout);
    const there = findExisting(directory);
    await readdir(there);
    const audit = dirname(layout.decisions);
    const folders = [there, blobs, staging, audit];
    for (const folder of folders.filter((one) => existsSync(one)))
      await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize, files, ffree } = await statfs(there);
    const left = `${directory} can be written, and its disk has ${formatAmount(bavail * bsize)} left`;
    if (bavail * bsize < minFree || (files > 0 && ffree === 0))
      return fail(
        "storage",
        `${left}, ${ffree} files and less than ${formatAmount(minFree)} ("storage.minFree").`,
        `Make room there, or set "storage.maxSize"; until then archives that are not stored are refused, unless older ones can leave for them.`,
      );
    if (existsSync(staging))
      await writeFile(file, Buffer.alloc(sample), { flush: true });
    return good("storage", `${left}.`);
  } catch (error) {
    if (error instanceof ProvenderError) return failBy("storage", error);
    return fail(
      "storage",
      `${directory} cannot be read and written (${describeFailure(error)}).`,
      "Give it to the user of the daemon with chown -R and chmod -R u+rwX, and look at how its disk is mounted.",
    );
  } finally {
    await rm(file, { force: true }).catch(() => undefined);
  }
}

function findExisting(path: string): string {
  return existsSync(path) ? path : findExisting(dirname(path));
}

/** Milliseconds before the end of a certificate from which on the check warns. */
const renewal = 14 * 24 * 60 * 60 * 1000;

/** The operator's own certificate, which `load` reads with its key; `names` is what clients call the mirror. */
export async function examineCertificate(
  load: () => Promise<{ readonly certificate: string }>,
  names: readonly string[],
  now: Date,
): Promise<Check> {
  try {
    const parsed = new X509Certificate((await load()).certificate);
    const missing = names.filter((name) =>
      isIP(name) === 0
        ? parsed.checkHost(name) === undefined
        : parsed.checkIP(name) === undefined,
    );
    if (missing.length > 0)
      return fail(
        "certificate",
        `The certificate is not for ${missing.join(", ")} of "listen.names": it names ${parsed.subjectAltName ?? "nothing"}.`,
        "Get one that names all of them.",
      );
    const expires = parsed.validToDate;
    const until = `The certificate is good until ${expires.toISOString()}.`;
    return expires.getTime() - now.getTime() < renewal
      ? {
          check: "certificate",
          state: "warn",
          found: until,
          remedy: "Renew it before then.",
        }
      : good("certificate", until);
  } catch (error) {
    return failBy("certificate", error);
  }
}

/** An origin, and a question that shows whether it can be asked: its discovery, or its folder. */
export interface ExaminedOrigin {
  readonly hostname: string;
  readonly kind: "registry" | "folder";
  readonly ask: (signal: AbortSignal) => Promise<unknown>;
}

export async function examineOrigin(
  { hostname, kind, ask }: ExaminedOrigin,
  signal: AbortSignal,
): Promise<Check> {
  try {
    const answer = await ask(signal);
    const services = answer as Record<string, unknown> | null;
    const isRegistry = ["providers.v1", "modules.v1"].some(
      (name) => typeof services?.[name] === "string",
    );
    if (kind !== "registry" || isRegistry)
      return good("origin", `${hostname} (${kind}) can be asked.`);
    return fail(
      "origin",
      `${hostname} names neither providers.v1 nor modules.v1, so that it has nothing for clients.`,
      `Correct the origin's "url", or ask who runs ${hostname}.`,
    );
  } catch (error) {
    return failBy("origin", error);
  }
}

/** How clients reach a mirror. */
interface MirrorAccess {
  /** The base of its network mirror protocol. */
  readonly base: URL;
  /** PEM certificates that are trusted. */
  readonly ca: readonly string[];
  readonly token: string | undefined;
  /** As in HTTPS_PROXY and NO_PROXY. */
  readonly proxy: {
    readonly https: URL | undefined;
    readonly no: string | undefined;
  };
}

/** Address that only provender refuses, and without a request to any origin. */
const probe = "provender.invalid/doctor/doctor/0.0.0";

/** Bytes of an answer to the probe, which has some hundred. */
const mostBytes = 64 * 1024;

/** A mirror as clients on this machine find it: address, TLS, path, token, readiness, and the reasons that clients print. */
export async function examineMirror(
  { base, ca, token, proxy }: MirrorAccess,
  signal: AbortSignal,
): Promise<Check> {
  const tls = { ca: [...ca] };
  const dispatcher = new EnvHttpProxyAgent({
    ...{ connect: tls, requestTls: tls, proxyTls: tls },
    ...{ allowH2: true, maxResponseSize: mostBytes },
    httpsProxy: proxy.https?.href ?? "",
    noProxy: proxy.no ?? "",
  });
  const headers =
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  const ask = async (path: string) => {
    const url = new URL(path, base);
    const answer = await request(url, { dispatcher, headers, signal });
    const text = await answer.body.text();
    return { phrase: answer.statusText, ...readError(text) };
  };
  try {
    const { code, phrase } = await ask(probe);
    if (code === "token-needed" || code === "token-refused")
      return failBy("mirror", wantToken(base));
    if (code !== "malformed-address")
      return fail(
        "mirror",
        `What answers at ${base.href} is not provender's network mirror.`,
        "Give the URL that the mirror prints at its start, which ends in /providers/, and look at what is in front of it.",
      );
    const ready = await ask("../readyz");
    if (ready.code !== undefined)
      return fail(
        "mirror",
        ready.errors.join(" "),
        `Run "provender doctor" on the mirror's machine.`,
      );
    // Clients print the phrase of a status, which HTTP/2 has not and proxies may replace.
    return phrase === "" || phrase === "Bad Request"
      ? {
          check: "mirror",
          state: "warn",
          found: `${base.href} is a mirror, and what is in front of it drops the reasons of refusals, so that clients print none.`,
          remedy: `Let that speak HTTP/1.1 with clients and pass the reason on; until then "provender explain" says why something is refused.`,
        }
      : good("mirror", `${base.href} is a mirror, and ready.`);
  } catch (error) {
    return explainUnreachable(base, error);
  } finally {
    await dispatcher.destroy();
  }
}

function explainUnreachable({ origin }: URL, error: unknown): Check {
  const { code = "", message } = error as NodeJS.ErrnoException;
  const reason = code === "" ? message : code;
  return /CERT|SIGNATURE/.test(code)
    ? fail(
        "mirror",
        `The certificate of ${origin} is not trusted under this name now (${reason}).`,
        `Give the mirror's CA with --ca, which "provender client-config --pem" prints there, use a name that is in the certificate, and renew an expired one.`,
      )
    : fail(
        "mirror",
        `${origin} does not answer as a mirror does (${reason}).`,
        `Correct the name and the port, start the mirror, and look at its log, at "listen" there, DNS, HTTPS_PROXY and firewalls.`,
      );
}

/** The body of this program's errors (docs/http.md). */
function readError(text: string): {
  readonly code?: string;
  readonly errors: readonly string[];
} {
  try {
    return { errors: [], ...(JSON.parse(text) as object) };
  } catch {
    return { errors: [] };
  }
}
