import { row } from "../row.ts";

/** Bundles and trees that are imported or exported. */
export const bundleErrors = {
  "bundle-refused": row(["path", "problem"], {
    sentence:
      "{path} is refused as a bundle ({problem}), and nothing of it was imported",
    remedy: `get a whole copy of what "provender export --bundle" wrote`,
  }),
  /** It was written with --since. */
  "bundle-incomplete": row(["subject"], {
    sentence: "{subject} is neither in the bundle nor stored",
    remedy: `import the bundle first that "--since" named when this one was written`,
  }),
  "export-failed": row(["path", "reason"], {
    sentence: "{path} could not be written ({reason})",
    remedy: "mend that and export again",
  }),
};
