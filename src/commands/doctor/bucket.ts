import { ProvenderError } from "../../errors/index.ts";
import { failBy, good, type Check } from "./check.ts";

/** A bucket for replicas, by what `prove` says of it or throws. */
export async function examineBucket(
  prove: () => Promise<string>,
): Promise<Check> {
  try {
    return good("bucket", `${(await prove()).trim()}.`);
  } catch (error) {
    if (!(error instanceof ProvenderError)) throw error;
    return failBy("bucket", error);
  }
}
