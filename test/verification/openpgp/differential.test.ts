import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
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
const document = join(import.meta.dirname, "../../../docs/openpgp.md");
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

const padded = /[A-Za-z0-9+/]=\s*=?\s*[A-Za-z0-9+/]/;
const isPadded = (key: string) => padded.test(key);
const isOfMessage = (fault: string) =>
  /^packet (?:1|3|4|8|9|11|18|20)$/.test(fault);
const isSecret = (fault: string) => /^packet [57]$/.test(fault);

/** Where provender and go-crypto may differ, by the words of docs/openpgp.md. */
const deviations: readonly {
  readonly name: string;
  readonly holds: (question: Question, ours: string) => boolean;
}[] = [
  {
    name: "Base64 with padding before its end",
    holds: ({ keys }, ours) => ours === "refused" && keys.some(isPadded),
  },
  {
    name: "A packet in parts",
    holds: ({ faults }, ours) => ours === "refused" && faults.includes("parts"),
  },
  {
    name: "Packets of messages",
    holds: ({ faults }) => faults.some(isOfMessage),
  },
  {
    name: "The secret part of a private key block",
    holds: ({ faults }) => faults.some(isSecret),
  },
  {
    name: "The parameters of an ECDH subkey",
    holds: ({ faults }) => faults.includes("ECDH"),
  },
];

/** Equal user IDs: go-crypto says now this, now that. */
function isOneAnswer(question: Question, ours: string): boolean {
  const again = Array.from({ length: repeats }, () => question);
  return askReference(again).includes(ours);
}

it("knows each difference by its name in the document", () => {
  const text = readFileSync(document, "utf8");
  for (const { name } of deviations) expect(text).toContain(`| ${name}`);
});

describe.skipIf(reference === "")("generated keys and signatures", () => {
  it(
    `are decided as go-crypto decides them: ${count} of them`,
    { timeout: 60_000 + 100 * count },
    () => {
      const source = new QuestionSource(new Random(seed));
      const tally: Record<string, number> = {};
      const differing: Record<string, number> = {};
      for (let done = 0; done < count; done += atOnce) {
        const questions = Array.from({ length: atOnce }, () => source.next());
        const answers = askReference(questions);
        for (const [index, question] of questions.entries()) {
          const theirs = answers[index] ?? "";
          const ours = ask(question);
          tally[theirs] = (tally[theirs] ?? 0) + 1;
          if (ours === theirs) continue;
          const known = deviations.find(({ holds }) => holds(question, ours));
          if (known !== undefined) {
            differing[known.name] = (differing[known.name] ?? 0) + 1;
            continue;
          }
          if (isOneAnswer(question, ours)) continue;
          expect.fail(
            `provender: ${ours}, go-crypto: ${theirs} (${keep(question)})`,
          );
        }
      }
      console.info(`seed ${seed}:`, tally, differing);
      expect(tally).toMatchObject({
        ok: expect.any(Number) as unknown,
        refused: expect.any(Number) as unknown,
      });
    },
  );
});
