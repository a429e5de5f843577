import { type Configuration, type Limits } from "../config/load.ts";
import { SignatureUndecided } from "../errors/index.ts";
import { type SignatureJudge } from "../mirror/releases/verdict.ts";
import { PackageHashThreads } from "../verification/archives/threads/package-hash.ts";
import { type ArchiveLimits } from "../verification/archives/limits.ts";
import { SignatureThreads } from "../verification/openpgp/threads.ts";
import { decisionVersion } from "../verification/openpgp/decision-version.ts";

export function wireHashing({ limits }: Configuration): PackageHashThreads {
  return new PackageHashThreads({
    threads: 2,
    deadlineMs: limits.hashDeadline,
    limits: zipLimits(limits),
  });
}

export function zipLimits(limits: Limits): ArchiveLimits {
  return {
    entries: limits.zipEntries,
    expandedBytes: limits.zipExpanded,
    ratio: limits.zipRatio,
  };
}

export function wireSignatures({ limits }: Configuration): SignatureThreads {
  const { signatureDeadline: deadlineMs } = limits;
  return new SignatureThreads({ threads: 2, deadlineMs });
}

export function wireJudge(signatures: SignatureThreads): SignatureJudge {
  return {
    library: decisionVersion,
    decide: (release, question) =>
      signatures.decide(question).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : "unknown";
        throw new SignatureUndecided(release, reason, { cause: error });
      }),
  };
}
