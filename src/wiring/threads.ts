import { failure } from "../errors/index.ts";
import { type SignatureJudge } from "../mirror/releases/verdict.ts";
import { ArchiveThreads } from "../verification/archives/threads.ts";
import {
  archiveDeadline,
  packageLimits,
} from "../verification/archives/limits.ts";
import {
  decisionVersion,
  SignatureThreads,
} from "../verification/signatures.ts";

/** Milliseconds to decide about one signature. */
const signatureDeadline = 2_000;

export function wireHashing(): ArchiveThreads {
  return new ArchiveThreads({
    threads: 2,
    deadlineMs: archiveDeadline,
    limits: packageLimits,
  });
}

export function wireSignatures(): SignatureThreads {
  return new SignatureThreads({ threads: 2, deadlineMs: signatureDeadline });
}

export function wireJudge(signatures: SignatureThreads): SignatureJudge {
  return {
    library: decisionVersion,
    decide: (release, question) =>
      signatures.decide(question).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : "unknown";
        throw failure("signature-undecided", release, reason, { cause: error });
      }),
  };
}
