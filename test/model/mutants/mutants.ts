import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { mutants, type Mutant } from "./list.ts";

// npm run model:mutants -- [--sequences N] [--seed S] [--only WORDS]: plants one
// fault after the other in a copy of the trust core, and has the model find it.

const { values } = parseArgs({
  options: {
    sequences: { type: "string", default: "25000" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
  },
});
const root = join(import.meta.dirname, "../../..");
const copy = mkdtempSync(join(tmpdir(), "model-mutants-"));
process.once("exit", () => rmSync(copy, { recursive: true }));
for (const part of ["src", "test", "package.json"])
  cpSync(join(root, part), join(copy, part), { recursive: true });
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));

const chosen = mutants.filter(({ loses }) => loses.includes(values.only));
const survivors = chosen.filter((mutant) => !isFound(mutant));
console.log(`${chosen.length} mutants, ${survivors.length} survived`);
if (survivors.length > 0) process.exitCode = 1;

/** Says whether the model finds a fault, and after how many sequences. */
function isFound({ file, loses, search, replacement }: Mutant): boolean {
  const path = join(copy, "src/trust", file);
  const sound = readFileSync(path, "utf8");
  const parts = sound.split(search);
  if (parts.length !== 2)
    throw new Error(
      `${file}: expected once, got ${parts.length - 1}: ${search}`,
    );
  writeFileSync(path, parts.join(replacement));
  const { sequences, seed } = values;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      ...[join(copy, "test/model/model.ts"), "--until-broken"],
      ...["--threads", "1", "--sequences", sequences, "--seed", seed],
    ],
    { encoding: "utf8" },
  );
  writeFileSync(path, sound);
  const count = /^(\d+) sequences, /m.exec(stdout)?.[1];
  if (count === undefined) throw new Error(`${loses}: ${stderr}`);
  const [report = ""] = stdout.split("\n");
  const said = status === 0 ? `SURVIVED ${count}` : `found after ${count}`;
  console.log(
    `${said}: ${loses} (${file})${status === 0 ? "" : `: ${report}`}`,
  );
  return status !== 0;
}
