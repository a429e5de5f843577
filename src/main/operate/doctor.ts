import { examineCertificate } from "../../commands/doctor/certificate.ts";
import {
  examineAll,
  fail,
  good,
  type Check,
  type Examination,
} from "../../commands/doctor/check.ts";
import { tellChecks } from "../../commands/doctor/doctor.ts";
import { examineMirror } from "../../commands/doctor/mirror.ts";
import { examineBucket } from "../../commands/doctor/bucket.ts";
import {
  examineFolder,
  examineOrigins,
} from "../../commands/doctor/origins.ts";
import { examineStorage } from "../../commands/doctor/storage.ts";
import { examineTokens } from "../../commands/doctor/tokens.ts";
import { loadConfiguration, type Configuration } from "../../config/load.ts";
import { isFailure } from "../../errors/index.ts";
import { trustedCertificates } from "../../network/trusted-certificates.ts";
import { loadCertificateFiles } from "../../server/tls/certificate.ts";
import { layOutStore } from "../../store/layout.ts";
import {
  wireExaminedFolders,
  wireExaminedOrigins,
} from "../../wiring/commands/doctor.ts";
import { wireRules } from "../../wiring/rules.ts";
import { refuseLoneAuthority, type MirrorFlags } from "../flags.ts";
import { nameMirror, type NamedMirror } from "../mirror-access.ts";
import { describeBucket } from "./bucket.ts";

export async function doctor(flags: MirrorFlags): Promise<number> {
  const { config, mirror, ca, json = false } = flags;
  refuseLoneAuthority(flags);
  const checks =
    mirror === undefined
      ? await examineServer(config)
      : await examineClient(
          loadConfiguration({ file: config }),
          nameMirror("--mirror", mirror, ca),
        );
  // Looking a name up can neither be given up nor left behind otherwise.
  const stdout = (text: string) =>
    void process.stdout.write(text, () => process.exit());
  return (process.exitCode = tellChecks(checks, { json }, stdout));
}

function examineClient(
  { proxy }: Configuration,
  named: NamedMirror,
): Promise<readonly Check[]> {
  const access = { ...named, ca: trustedCertificates(named.ca), proxy };
  return examineAll({
    mirror: (signal) => examineMirror(access, signal),
  });
}

async function examineServer(
  file: string | undefined,
): Promise<readonly Check[]> {
  try {
    const configuration = loadConfiguration({ file });
    wireRules(configuration);
    const source = configuration.source ?? "What is built in";
    const checks = await examineAll(listKinds(configuration));
    return [good("configuration", `${source} can be used.`), ...checks];
  } catch (error) {
    if (!isFailure(error, "configuration")) throw error;
    const remedy = `Correct it until "provender config check" finds it good.`;
    return [fail("configuration", error.message, remedy)];
  }
}

/** The storage comes first: root acts as its owner from then on, as the daemon does. */
function listKinds(
  configuration: Configuration,
): Readonly<Record<string, Examination>> {
  const { storage, listen, auth } = configuration;
  const now = new Date();
  return {
    storage: () =>
      examineStorage(layOutStore(storage.directory), storage.minFree),
    bucket: async () =>
      storage.s3 === undefined
        ? []
        : [await examineBucket(() => describeBucket(configuration))],
    certificate: async () =>
      listen.tls.kind === "files"
        ? examineCertificate(loadOf(listen.tls, now), listen.names, now)
        : [],
    tokens: () => Promise.resolve(examineTokens(auth.tokens, now)),
    origin: (signal) => examineSources(configuration, signal),
  };
}

function loadOf(files: Parameters<typeof loadCertificateFiles>[0], now: Date) {
  return () => loadCertificateFiles(files, now);
}

async function examineSources(
  configuration: Configuration,
  signal: AbortSignal,
): Promise<readonly Check[]> {
  const folders = wireExaminedFolders(configuration);
  const checks = await Promise.all(
    folders.map((folder) => examineFolder(folder, signal)),
  );
  return [
    ...checks.flat(),
    ...(await examineRegistries(configuration, signal)),
  ];
}

async function examineRegistries(
  configuration: Configuration,
  signal: AbortSignal,
): Promise<readonly Check[]> {
  if (configuration.offline)
    return [
      good("origin", "No origin is asked, because this mirror is offline."),
    ];
  const wired = wireExaminedOrigins(configuration);
  try {
    return await examineOrigins(wired.origins, signal);
  } finally {
    await wired.close();
  }
}
