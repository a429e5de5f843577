import { ProvenderError } from "../../errors/index.ts";
import type { Archives } from "../archives/archives.ts";
import type { ReleaseRequest } from "../trust/request.ts";
import type { Standings } from "./standings.ts";

/** True when clients may have the release, and some archive of it is stored. */
export async function isStored(
  {
    standings,
    archives,
  }: {
    readonly standings: Pick<Standings, "look">;
    readonly archives: Pick<Archives, "findSize">;
  },
  request: ReleaseRequest,
): Promise<boolean> {
  try {
    const { release } = await standings.look(request);
    const sizes = await Promise.all(
      [...release.packages.values()].map(({ sha256 }) =>
        archives.findSize(sha256),
      ),
    );
    return sizes.some((size) => size !== undefined);
  } catch (error) {
    if (error instanceof ProvenderError) return false;
    throw error;
  }
}
