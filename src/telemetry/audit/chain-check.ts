import { emptyChain, readLink, sha256Of, type ChainHead } from "./chain.ts";
import { findBreak, findBreakAtStart } from "./chain-break.ts";
import { Findings, mostListed, type LogPlace } from "./findings.ts";
import type { LogFile } from "./log-files.ts";
import { readObject, type LogLine } from "./log-lines.ts";
import type { SignatureCheck } from "./signature-check.ts";
import { UnchainedRun } from "./unchained-run.ts";

/** Unchained lines since the last chained one. */
interface Passed {
  count: number;
  readonly first: LogPlace;
  /** Those that could be entries, as no line can be that was cut short. */
  readonly whole: LogPlace[];
  readonly torn: LogPlace[];
}

/** Reads the lines of a log in order, and finds where they are not a chain. */
export class ChainCheck {
  readonly findings = new Findings();
  readonly #keep: number;
  readonly #signatures: SignatureCheck;
  readonly #run = new UnchainedRun();
  #passed: Passed | undefined;
  #head: ChainHead = emptyChain;
  #last: LogPlace | undefined;
  #isAged = false;

  /** `keep`: how many older files the log keeps. */
  constructor(keep: number, signatures: SignatureCheck) {
    this.#keep = keep;
    this.#signatures = signatures;
  }

  take(file: LogFile, line: LogLine, number: number): void {
    const at = { file: file.name, line: number };
    // Lines may have left only before a file that is the oldest to be kept.
    if (this.#last === undefined) this.#isAged = file.number === this.#keep;
    if (!this.#follow(line.bytes, at)) this.#pass(file, line, at);
    this.#last = at;
  }

  /** After the last line; `name` is the current file's, where there is none. */
  end(name: string): void {
    this.#settlePassed();
    const at = this.#last ?? { file: name, line: 0 };
    const found = this.#signatures.end(at, this.#head);
    if (found !== undefined) this.findings.tell(found);
    this.findings.checkpoints = this.#signatures.count;
    this.findings.unsigned = this.#signatures.countUnsigned(this.#head);
  }

  #follow(bytes: Buffer, at: LogPlace): boolean {
    const link = readLink(bytes);
    if (link === undefined) return false;
    const sha256 = sha256Of(bytes);
    const gap = this.#run.take();
    const step = { at, link, sha256, gap, passed: this.#passed };
    const found =
      this.findings.lines === 0
        ? findBreakAtStart(step, this.#isAged)
        : findBreak(this.#head, this.#last ?? at, step);
    if (found === undefined) this.#settlePassed();
    else this.findings.tell(found);
    const isAnchor = this.findings.lines === 0 && link.seq > 1;
    const unsigned = this.#signatures.take(
      bytes,
      { at, link, sha256 },
      isAnchor,
    );
    if (found === undefined && unsigned !== undefined)
      this.findings.tell(unsigned);
    this.#passed = undefined;
    this.findings.lines++;
    // A line that stands where it does not belong says nothing of the next one.
    if (found?.kind !== "doubled" && found?.kind !== "swapped")
      this.#head = { size: link.seq, sha256 };
    return true;
  }

  #pass(file: LogFile, line: LogLine, at: LogPlace): void {
    this.#run.add(file, line);
    this.#passed ??= { count: 0, first: at, whole: [], torn: [] };
    if (this.findings.lines > 0 && this.#passed.count < mostListed)
      this.#passed[readObject(line.bytes.toString()) ? "whole" : "torn"].push(
        at,
      );
    this.#passed.count++;
  }

  #settlePassed(): void {
    const { count = 0, whole = [], torn = [] } = this.#passed ?? {};
    if (this.findings.lines === 0) this.findings.unchained = count;
    const problem = "stands in the chain without being a part of it";
    for (const at of whole)
      this.findings.tell({ ...at, kind: "inserted", problem });
    for (const at of torn) this.findings.tellTorn(at);
  }
}
