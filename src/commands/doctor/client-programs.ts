import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import {
  compareVersions,
  isVersion,
  parseVersion,
} from "../../address/version.ts";
import { fail, good, warn, type Check } from "./check.ts";

const run = promisify(execFile);

/** Clients of a mirror. */
const programs = ["terraform", "tofu"] as const;

/** The first with `provider_installation`, and the first that is still tried. */
const first = parseVersion("0.13.0");
const tried = parseVersion("1.0.0");

/** The clients that are installed here; `searchPath` is where programs are looked for. */
export async function examineClientPrograms(
  searchPath: string,
  signal: AbortSignal,
): Promise<readonly Check[]> {
  const checks = await Promise.all(
    programs.map((program) => examineProgram(program, searchPath, signal)),
  );
  return checks.filter((check) => check !== undefined);
}

/** Undefined for one that is not there. */
async function examineProgram(
  program: string,
  searchPath: string,
  signal: AbortSignal,
): Promise<Check | undefined> {
  const env = { PATH: searchPath, CHECKPOINT_DISABLE: "1" };
  try {
    const options = { env, signal, cwd: tmpdir() };
    const { stdout } = await run(program, ["version", "-json"], options);
    return judgeVersion(program, stdout);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT"
      ? undefined
      : warn(
          "client-version",
          `${program} is on PATH and does not say its version.`,
          `Run "${program} version" to see what is wrong with it.`,
        );
  }
}

/** Old ones know no JSON, and write `Terraform v0.12.31`. */
function judgeVersion(program: string, told: string): Check {
  const [, json, plain] =
    /"terraform_version": *"([^"]+)"|\bv(\d+\.\d+\.\d+\S*)/.exec(told) ?? [];
  const version = json ?? plain ?? "";
  if (!isVersion(version))
    return warn(
      "client-version",
      `${program} says a version that nobody can read.`,
      `Run "${program} version" to see what is wrong with it.`,
    );
  const name = `${program} ${version}`;
  const cure = "Install a version that is still maintained.";
  if (compareVersions(version, first) < 0)
    return fail(
      "client-version",
      `${name} is too old: it knows no mirrors.`,
      cure,
    );
  return compareVersions(version, tried) < 0
    ? warn(
        "client-version",
        `${name} is older than any that is tried with this mirror.`,
        cure,
      )
    : good("client-version", `${name} knows mirrors.`);
}
