import { X509Certificate } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { access, readdir, rm, statfs, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { dirname } from "node:path";
import { EnvHttpProxyAgent, request } from "undici";
import { inTime } from "../../concurrency/in-time.ts";
import {
  loadConfiguration,
  type Configuration,
  type OriginConfiguration,
} from "../../config/load.ts";
import { isFailure, ProvenderError } from "../../errors/index.ts";
import { trustedCertificates } from "../../network/trusted-certificates.ts";
import { OriginFolder } from "../../origin/folder/origin-folder.ts";
import { originLimits } from "../../origin/guard/origin-settings.ts";
import { HttpClient } from "../../origin/http/http-client.ts";
import { loadCertificateFiles } from "../../server/tls/certificate.ts";
import { describeFailure } from "../../store/file-failure.ts";
import { layOutStore, stagingPath } from "../../store/layout.ts";
import { actAsOwner } from "../../store/storage-directory.ts";
import { settingsOf } from "../../wiring/clients.ts";
import {
  type MirrorFlags,
  type NamedMirror,
  nameMirror,
  wantToken,
} from "../named-mirror.ts";
import { formatDocument, print } from "../output/report.ts";
import { formatAmount } from "../output/table.ts";
import { describeShared, listServed } from "./config.ts";

/** What a check found, in a sentence, and one on what to do where it is wrong. */
interface Found {
  readonly state: "ok" | "warn" | "fail";
  readonly found: string;
  readonly remedy: string | null;
}

interface Check extends Found {
  readonly check:
    "configuration" | "storage" | "certificate" | "origin" | "mirror";
}

/** Milliseconds for each check, within which what is under way ends by itself. */
const patience = 10_000;
const deadline = 9_000;

/** `provender doctor`: five checks; status 1 when one fails. */
export async function doctor(flags: MirrorFlags): Promise<number> {
  const checks = await examine(flags.config, nameMirror(flags));
  const ok = checks.every(({ state }) => state !== "fail");
  const lines = checks.map(({ check, state, found, remedy }) => {
    const line = `${state.padEnd(4)}  ${check.padEnd(13)}  ${found}\n`;
    return remedy === null ? line : `${line}${" ".repeat(21)}${remedy}\n`;
  });
  const isJson = flags.json === true;
  const text = isJson ? formatDocument({ ok, checks }) : lines.join("");
  await print(text);
  // Looking a name up can neither be given up nor left behind otherwise.
  process.exit(ok ? 0 : 1);
}

async function examine(
  config: string | undefined,
  named: NamedMirror | undefined,
): Promise<readonly Check[]> {
  let configuration: Configuration;
  try {
    configuration = loadConfiguration({ file: config });
  } catch (error) {
    if (!isFailure(error, "configuration")) throw error;
    const remedy = `Correct it until "provender config" finds it good.`;
    return [{ check: "configuration", ...fail(error.message, remedy) }];
  }
  if (named !== undefined)
    return [
      await limit("mirror", (signal) =>
        examineMirror(named, configuration.proxy, signal),
      ),
    ];
  const { source = "What is built in", listen, origins } = configuration;
  const { tls, names } = listen;
  const usable = `${source} can be used. It serves ${listServed(origins)}.`;
  // First, since root acts as the owner of the storage from there on, as the daemon does.
  const storage = await limit("storage", () => examineStorage(configuration));
  const asked = configuration.offline ? [] : [...origins.values()];
  return [
    { check: "configuration", ...good(usable) },
    storage,
    ...(await Promise.all([
      ...(tls.kind === "files"
        ? [limit("certificate", () => examineCertificate(tls, names))]
        : []),
      ...asked.map((origin) =>
        limit("origin", (signal) =>
          examineOrigin(configuration, origin, signal),
        ),
      ),
    ])),
  ];
}

/** Makes a check within its time; an error of ours fails it. */
async function limit(
  check: Check["check"],
  examine: (signal: AbortSignal) => Promise<Found>,
): Promise<Check> {
  const examining = examine(AbortSignal.timeout(deadline)).catch(explain);
  const found = await inTime(examining, patience, () =>
    fail(
      `Looking took longer than ${patience / 1000} s.`,
      "Look at the machine, its disk and its network, and try again.",
    ),
  );
  return { check, ...found };
}

function good(found: string): Found {
  return { state: "ok", found, remedy: null };
}

function warn(found: string, remedy: string): Found {
  return { state: "warn", found, remedy };
}

function fail(found: string, remedy: string): Found {
  return { state: "fail", found, remedy };
}

function explain(error: unknown): Found {
  if (!(error instanceof ProvenderError)) throw error;
  const { sentence, remedy = "look at what is named there" } = error;
  const upper = remedy.charAt(0).toUpperCase() + remedy.slice(1);
  return fail(`${sentence}.`, `${upper}.`);
}

/** Bytes that are written to see whether the disk takes them. */
const sample = 64 * 1024;

/** The storage directory as the daemon's user finds it, and the database and bucket of its own; root acts as its owner from here on. Makes nothing that is not there. */
async function examineStorage(configuration: Configuration): Promise<Found> {
  const { minFree } = configuration.storage;
  const layout = layOutStore(configuration.storage.directory);
  const { directory, blobs, staging } = layout;
  const file = stagingPath(layout, "doctor");
  try {
    actAsOwner(layout);
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
        `${left}, ${ffree} files and less than ${formatAmount(minFree)} ("storage.minFree").`,
        `Make room there, or set "storage.maxSize"; until then archives that are not stored are refused, unless older ones can leave for them.`,
      );
    if (existsSync(staging))
      await writeFile(file, Buffer.alloc(sample), { flush: true });
    const shared = await describeShared(configuration);
    const found = [left, ...shared.split("\n").filter(Boolean)];
    return good(found.map((one) => `${one}.`).join(" "));
  } catch (error) {
    if (error instanceof ProvenderError) throw error;
    return fail(
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

/** The operator's own certificate and its key, under the names that clients call the mirror. */
async function examineCertificate(
  paths: Parameters<typeof loadCertificateFiles>[0],
  names: readonly string[],
): Promise<Found> {
  const now = new Date();
  const { certificate } = await loadCertificateFiles(paths, now);
  const parsed = new X509Certificate(certificate);
  const missing = names.filter(
    (name) => !(isIP(name) ? parsed.checkIP(name) : parsed.checkHost(name)),
  );
  if (missing.length > 0)
    return fail(
      `The certificate is not for ${missing.join(", ")} of "listen.names": it names ${parsed.subjectAltName ?? "nothing"}.`,
      "Get one that names all of them.",
    );
  const expires = parsed.validToDate;
  const until = `The certificate is good until ${expires.toISOString()}.`;
  return expires.getTime() - now.getTime() < renewal
    ? warn(until, "Renew it before then.")
    : good(until);
}

/** Asks as the daemon does, by a client of its own: a registry for its discovery, or a folder for its names. */
async function examineOrigin(
  { proxy, limits }: Configuration,
  origin: OriginConfiguration,
  signal: AbortSignal,
): Promise<Found> {
  const { hostname, url, directory } = origin;
  if (directory !== undefined) {
    await new OriginFolder(directory).list([]);
    return good(`${hostname} (folder) can be asked.`);
  }
  const settings = settingsOf(origin, origin.token?.secret, proxy);
  const http = new HttpClient(settings, originLimits(limits));
  const { value } = await http
    .fetchJson(new URL(".well-known/terraform.json", url), signal)
    .finally(() => http.close());
  const services = value as Record<string, unknown> | null;
  const isRegistry = ["providers.v1", "modules.v1"].some(
    (name) => typeof services?.[name] === "string",
  );
  if (isRegistry) return good(`${hostname} (registry) can be asked.`);
  return fail(
    `${hostname} names neither providers.v1 nor modules.v1, so that it has nothing for clients.`,
    `Correct the origin's "url", or ask who runs ${hostname}.`,
  );
}

/** Address that only provender refuses, and without a request to any origin. */
const probe = "provender.invalid/doctor/doctor/none.json";

/** Bytes of an answer to the probe, which has some hundred. */
const mostBytes = 64 * 1024;

/** A mirror as clients on this machine find it: address, TLS, path, token, readiness, and the reasons that clients print. */
async function examineMirror(
  { base, ca, token }: NamedMirror,
  proxy: Configuration["proxy"],
  signal: AbortSignal,
): Promise<Found> {
  const tls = { ca: [...trustedCertificates(ca)] };
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
    const body = await answer.body.json().catch((error: unknown) => {
      // What is no provender may answer anything.
      if (!(error instanceof SyntaxError)) throw error;
    });
    const { code, errors = [] } = (body ?? {}) as {
      readonly code?: string;
      readonly errors?: readonly string[];
    };
    return { phrase: answer.statusText, code, errors };
  };
  try {
    const { code, phrase } = await ask(probe);
    if (code === "token-needed" || code === "token-refused")
      return explain(wantToken(base));
    if (code !== "malformed-address")
      return fail(
        `What answers at ${base.href} is not provender's network mirror.`,
        "Give the URL that the mirror prints at its start, which ends in /providers/, and look at what is in front of it.",
      );
    const ready = await ask("../readyz");
    if (ready.code !== undefined)
      return fail(
        ready.errors.join(" "),
        `Run "provender doctor" on the mirror's machine.`,
      );
    // Clients print the phrase of a status, which HTTP/2 has not and proxies may replace.
    return phrase === "" || phrase === "Bad Request"
      ? warn(
          `${base.href} is a mirror, and what is in front of it drops the reasons of refusals, so that clients print none.`,
          `Let that speak HTTP/1.1 with clients and pass the reason on; until then "provender explain" says why something is refused.`,
        )
      : good(`${base.href} is a mirror, and ready.`);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    const reason = code || message;
    return /CERT|SIGNATURE/.test(code)
      ? fail(
          `The certificate of ${base.origin} is not trusted under this name now (${reason}).`,
          `Give the mirror's CA with --ca, which "provender client-config --pem" prints there, use a name that is in the certificate, and renew an expired one.`,
        )
      : fail(
          `${base.origin} does not answer as a mirror does (${reason}).`,
          `Correct the name and the port, start the mirror, and look at its log, at "listen" there, DNS, HTTPS_PROXY and firewalls.`,
        );
  } finally {
    await dispatcher.destroy();
  }
}
