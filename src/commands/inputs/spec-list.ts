import {
  parseProviderSpec,
  type ProviderSpec,
} from "../../address/specs/provider-spec.ts";
import type { SpecHosts } from "../../address/specs/spec.ts";
import { failure, type Failure, isFailure } from "../../errors/index.ts";
import { textOf, type InputText } from "./input-file.ts";

/** The SPECs of a list file and what is wrong with other lines; `where` is FILE:LINE. */
interface SpecList {
  readonly specs: readonly {
    readonly spec: ProviderSpec;
    readonly where: string;
  }[];
  readonly problems: readonly Failure<"input">[];
}

/** One SPEC a line; blank lines and what follows a `#` are nothing. */
export function readSpecList(input: InputText, hosts: SpecHosts): SpecList {
  try {
    return parseSpecList(input.path, textOf(input), hosts);
  } catch (error) {
    if (!isFailure(error, "input")) throw error;
    return { specs: [], problems: [error] };
  }
}

function parseSpecList(
  name: string,
  content: string,
  hosts: SpecHosts,
): SpecList {
  const specs: SpecList["specs"][number][] = [];
  const problems: Failure<"input">[] = [];
  for (const [index, line] of content.split(/\r?\n/).entries()) {
    const written = line.replace(/(?:^|\s)#.*$/, "").trim();
    const where = `${name}:${index + 1}`;
    if (written === "") continue;
    try {
      specs.push({ spec: parseProviderSpec(written, hosts), where });
    } catch (error) {
      if (!isFailure(error, "malformed-address")) throw error;
      problems.push(failure("input", where, error.sentence, error.remedy));
    }
  }
  return { specs, problems };
}
