import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decideSignature } from "../../../src/verification/openpgp/signature.ts";
import { effort } from "../../effort.ts";
import { now } from "./certificates.ts";
import { QuestionSource, type Question } from "./generated-questions.ts";
import { Random } from "./random.ts";

/** Terraform's own library, built from reference/ with `go build`. */
const reference = process.env.PROVENDER_OPENPGP_REFERENCE ?? "";
const count = 100 * effort;
const atOnce = 100;
/** The choices are the same each time, unless more is tried than in CI; keys and signatures never are. */
const seed = Number(
  process.env.PROVENDER_SEED ?? (effort > 1 ? Date.now() % 1e9 : 1),
);
/** How often a question is asked again whose answer depends on the order of a map. */
const repeats = 96;

if (reference === "")
  console.warn(
    "SKIPPED: decisions are not compared with go-crypto, since PROVENDER_OPENPGP_REFERENCE names no program built from reference/.",
  );

/** As the reference program reads it. */
function formatLine({ keys, document, signature }: Question): string {
  return JSON.stringify({
    Keys: keys,
    Document: document.toString("base64"),
    Signature: signature.toString("base64"),
    Now: now.getTime() / 1000,
  });
}

/** The file that now holds the question, since no seed repeats it. */
function keep(question: Question): string {
  const file = join(mkdtempSync(join(tmpdir(), "openpgp-")), "question.json");
  writeFileSync(file, formatLine(question));
  return file;
}

function askReference(questions: readonly Question[]): readonly string[] {
  const { stdout, status } = spawnSync(reference, {
    input: questions.map(formatLine).join("\n"),
    maxBuffer: 2 ** 28,
  });
  expect(status).toBe(0);
  const lines = stdout.toString().trim().split("\n");
  return lines.map((line) => outcomeOf(JSON.parse(line) as string));
}

/** A crash of the client refuses too. */
function outcomeOf(answer: string): string {
  return /^(?:refused|crash)/.test(answer) ? "refused" : answer;
}

function ask(question: Question): string {
  const decision = decideSignature({ ...question, profile: "terraform", now });
  if (decision.accepted) return decision.validity;
  return decision.reason === "signature-expired" ? "sigExpired" : "refused";
}

/** Padding before the end of the base64, which provender refuses (docs/openpgp.md). */
function isKnown({ keys }: Question, ours: string): boolean {
  const padded = /[A-Za-z0-9+/]=\s*=?\s*[A-Za-z0-9+/]/;
  return ours === "refused" && keys.some((key) => padded.test(key));
}

/** Equal user IDs: go-crypto says now this, now that. */
function isOneAnswer(question: Question, ours: string): boolean {
  const again = Array.from({ length: repeats }, () => question);
  return askReference(again).includes(ours);
}

describe.skipIf(reference === "")("generated keys and signatures", () => {
  it(
    `are decided as go-crypto decides them: ${count} of them`,
    { timeout: 60_000 + 100 * count },
    () => {
      const source = new QuestionSource(new Random(seed));
      const tally: Record<string, number> = {};
      for (let done = 0; done < count; done += atOnce) {
        const questions = Array.from({ length: atOnce }, () => source.next());
        const answers = askReference(questions);
        for (const [index, question] of questions.entries()) {
          const theirs = answers[index] ?? "";
          const ours = ask(question);
          tally[theirs] = (tally[theirs] ?? 0) + 1;
          if (ours === theirs || isKnown(question, ours)) continue;
          if (isOneAnswer(question, ours)) continue;
          expect.fail(
            `provender: ${ours}, go-crypto: ${theirs} (${keep(question)})`,
          );
        }
      }
      console.info(`seed ${seed}:`, tally);
      expect(tally).toMatchObject({
        ok: expect.any(Number) as unknown,
        refused: expect.any(Number) as unknown,
      });
    },
  );
});
