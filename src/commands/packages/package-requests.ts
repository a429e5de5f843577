import { parseProviderSpec } from "../../address/provider-spec.ts";
import { NothingAsked, type ProvenderError } from "../../errors/index.ts";
import {
  findRoots,
  type ConfigurationRoot,
} from "../inputs/configuration-directory.ts";
import {
  readDependencyLockFile,
  type DependencyLockFile,
} from "../inputs/dependency-lock-file.ts";
import type { PackageRequest, SelectionInput } from "./request.ts";
import { readSpecList } from "../inputs/spec-list.ts";
import { choiceOf, newestOf } from "./version-choice.ts";

/** What was read and what could not be. */
interface Requests {
  readonly requests: readonly PackageRequest[];
  readonly problems: readonly ProvenderError[];
}

/** Throws MalformedAddress for a SPEC of the command line that is none, and NothingAsked. */
export async function readRequests(
  input: Omit<SelectionInput, "platforms">,
): Promise<Requests> {
  const { specs, lists, lockFiles, directories } = input;
  if ([specs, lists, lockFiles, directories].every((way) => way.length === 0))
    throw new NothingAsked(
      "fetch",
      "SPECs, --list, --lock-file or --directory",
    );
  const named = { requests: specs.map(requestOf), problems: [] };
  const found = await Promise.all([
    ...lists.map(readList),
    ...lockFiles.map(async (path) =>
      requestsOfLocks(await readDependencyLockFile(path)),
    ),
    ...directories.map(readDirectory),
  ]);
  return join([named, ...found]);
}

function requestOf(spec: string): PackageRequest {
  const { address, selection } = parseProviderSpec(spec);
  return { provider: address, choice: choiceOf(selection), where: spec };
}

async function readList(path: string): Promise<Requests> {
  const { specs, problems } = await readSpecList(path);
  const requests = specs.map(({ spec, where }) => ({
    provider: spec.address,
    choice: choiceOf(spec.selection),
    where,
  }));
  return { requests, problems };
}

async function readDirectory(path: string): Promise<Requests> {
  const { roots, problems } = await findRoots(path);
  return join([{ requests: [], problems }, ...roots.map(requestsOfRoot)]);
}

/** A locked version is what clients install; what is required and not locked is the newest that is allowed. */
function requestsOfRoot({ locks, requirements }: ConfigurationRoot): Requests {
  const locked = locks === undefined ? undefined : requestsOfLocks(locks);
  const names = new Set(locks?.locks.map(({ name }) => name));
  const required = requirements
    .filter(({ name }) => !names.has(name))
    .map(({ provider, constraint, where }) => ({
      provider,
      choice: newestOf(constraint),
      where,
    }));
  return join([
    locked ?? { requests: [], problems: [] },
    { requests: required, problems: [] },
  ]);
}

function requestsOfLocks({ locks, problems }: DependencyLockFile): Requests {
  const requests = locks.map(
    ({ provider, version, hashes, where }): PackageRequest => ({
      provider,
      choice: { kind: "exact", version },
      where,
      // Without any, clients take what they get.
      ...(hashes.length === 0 ? {} : { hashes }),
    }),
  );
  return { requests, problems };
}

function join(parts: readonly Requests[]): Requests {
  return {
    requests: parts.flatMap(({ requests }) => requests),
    problems: parts.flatMap(({ problems }) => problems),
  };
}
