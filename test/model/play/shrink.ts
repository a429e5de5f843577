import type { Action } from "../world/actions.ts";
import { play } from "./play.ts";
import type { WorldName } from "./worlds.ts";

/** Finds a shorter sequence that ends in the same sort of violation: no step of it can be left out. */
export async function shrink(
  world: WorldName,
  actions: readonly Action[],
): Promise<readonly Action[]> {
  const broken = await play(world, actions);
  if (broken === undefined) return actions;
  const { sort } = broken.violation;
  let shortest = actions.slice(0, broken.step + 1);
  for (let size = shortest.length >> 1; size > 0; size >>= 1)
    for (let at = shortest.length - size; at >= 0; at--) {
      const shorter = shortest.toSpliced(at, size);
      const again = await play(world, shorter);
      if (again?.violation.sort === sort)
        shortest = shorter.slice(0, again.step + 1);
    }
  return shortest;
}
