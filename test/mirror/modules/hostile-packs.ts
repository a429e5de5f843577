import {
  blobOf,
  commitOf,
  copies,
  gitId,
  packBackend,
  packOf,
  treeOf,
  type PackObject,
} from "../../fakes/git-pack.ts";
import type { GitBackend } from "../../fakes/module-registry.ts";

/** A server of a small repository, whose pack has these objects, too. */
export function sends(...hostile: readonly PackObject[]): GitBackend {
  const file = blobOf("# module");
  const tree = treeOf([["100644 main.tf", gitId(file)]]);
  const commit = commitOf(tree);
  return packBackend(commit, packOf([commit, tree, file, ...hostile]));
}

const small = 2 ** 16;
const large = 2 ** 23;

/** Packs that would take all of a machine's memory. */
export const hostilePacks: readonly (readonly [
  string,
  readonly PackObject[],
])[] = [
  [
    "whose changes unfold to more than the memory",
    [
      blobOf(Buffer.alloc(small)),
      copies(small, small, 128),
      copies(large, large, 128),
      copies(large * 128, large, 200),
    ],
  ],
  [
    "with an object that says it has 2^40 bytes",
    [{ ...blobOf("x"), size: 2 ** 40 }],
  ],
  [
    "with a tree that says it has 2^34 bytes",
    [{ ...treeOf([]), size: 2 ** 34 }],
  ],
  [
    "with a change of an object that is larger than the memory",
    [blobOf("x"), { ...copies(1, 1, 1), size: 2 ** 36 }],
  ],
];
