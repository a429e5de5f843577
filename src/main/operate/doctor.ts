import {
  examineCertificate,
  examineMirror,
  examineOrigin,
  examineStorage,
  fail,
  failBy,
  good,
  tellChecks,
  type Check,
  type ExaminedOrigin,
} from "../../commands/operate/doctor.ts";
import { inTime } from "../../concurrency/in-time.ts";
import {
  loadConfiguration,
  type Configuration,
  type OriginConfiguration,
} from "../../config/load.ts";
import { isFailure } from "../../errors/index.ts";
import { trustedCertificates } from "../../network/trusted-certificates.ts";
import { OriginFolder } from "../../origin/folder/origin-folder.ts";
import { originLimits } from "../../origin/guard/origin-settings.ts";
import { HttpClient } from "../../origin/http/http-client.ts";
import { loadCertificateFiles } from "../../server/tls/certificate.ts";
import { layOutStore } from "../../store/layout.ts";
import { settingsOf } from "../../wiring/clients.ts";
import { wireRules } from "../../wiring/core.ts";
import { refuseLoneAuthority, type MirrorFlags } from "../flags.ts";
import { nameMirror } from "../mirror-access.ts";
import { describeShared, listServed } from "./config.ts";

/** Milliseconds for each check, within which what is under way ends by itself. */
const patience = 10_000;
const deadline = 9_000;

export async function doctor(flags: MirrorFlags): Promise<number> {
  const { json = false } = flags;
  refuseLoneAuthority(flags);
  const checks = await examine(flags);
  // Looking a name up can neither be given up nor left behind otherwise.
  const stdout = (text: string) =>
    void process.stdout.write(text, () => process.exit());
  return (process.exitCode = tellChecks(checks, json, stdout));
}

async function examine({
  config,
  mirror,
  ca,
}: MirrorFlags): Promise<readonly Check[]> {
  let configuration: Configuration;
  try {
    configuration = loadConfiguration({ file: config });
    wireRules(configuration);
  } catch (error) {
    if (!isFailure(error, "configuration")) throw error;
    const remedy = `Correct it until "provender config check" finds it good.`;
    return [fail("configuration", error.message, remedy)];
  }
  if (mirror !== undefined) {
    const named = nameMirror(mirror, ca);
    const { proxy } = configuration;
    const access = { ...named, ca: trustedCertificates(named.ca), proxy };
    return [await limit("mirror", (signal) => examineMirror(access, signal))];
  }
  const source = configuration.source ?? "What is built in";
  return [
    good(
      "configuration",
      `${source} can be used. It serves ${listServed(configuration.origins)}.`,
    ),
    // First, since root acts as the owner of the storage from there on, as the daemon does.
    await limit("storage", () => examineStore(configuration)),
    ...(await Promise.all([
      ...examineFiles(configuration),
      ...examineOrigins(configuration),
    ])),
  ];
}

async function limit(
  check: Check["check"],
  examine: (signal: AbortSignal) => Promise<Check>,
): Promise<Check> {
  return inTime(examine(AbortSignal.timeout(deadline)), patience, () =>
    fail(
      check,
      `Looking took longer than ${patience / 1000} s.`,
      "Look at the machine, its disk and its network, and try again.",
    ),
  );
}

async function examineStore(configuration: Configuration): Promise<Check> {
  const { directory, minFree } = configuration.storage;
  const check = await examineStorage(layOutStore(directory), minFree);
  if (check.state !== "ok") return check;
  try {
    const shared = await describeShared(configuration);
    const lines = shared.split("\n").filter(Boolean);
    return good(
      "storage",
      [check.found, ...lines.map((one) => `${one}.`)].join(" "),
    );
  } catch (error) {
    return failBy("storage", error);
  }
}

function examineFiles({ listen }: Configuration): readonly Promise<Check>[] {
  const { tls, names } = listen;
  if (tls.kind !== "files") return [];
  const now = new Date();
  const load = () => loadCertificateFiles(tls, now);
  return [limit("certificate", () => examineCertificate(load, names, now))];
}

function examineOrigins(
  configuration: Configuration,
): readonly Promise<Check>[] {
  if (configuration.offline) return [];
  return [...configuration.origins.values()].map((origin) =>
    limit("origin", (signal) =>
      examineOrigin(makeQuestion(configuration, origin), signal),
    ),
  );
}

/** Asks as the daemon does, by a client of its own. */
function makeQuestion(
  { proxy, limits }: Configuration,
  origin: OriginConfiguration,
): ExaminedOrigin {
  const { hostname, url, directory } = origin;
  if (directory !== undefined) {
    const ask = () => new OriginFolder(directory).list([]);
    return { hostname, kind: "folder", ask };
  }
  const settings = settingsOf(origin, origin.token?.secret, proxy);
  const discovery = new URL(".well-known/terraform.json", url);
  return {
    hostname,
    kind: "registry",
    ask: async (signal) => {
      const http = new HttpClient(settings, originLimits(limits));
      const answer = http.fetchJson(discovery, signal);
      return (await answer.finally(() => http.close())).value;
    },
  };
}
