import { ProvenderError } from "../../errors/index.ts";
import { failBy, good, type Check } from "./check.ts";

/** Checks the bucket of replicas by the result of `prove`. */
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
