import fc from "fast-check";

/** Tests of properties try the same values every time; `npm run fuzz` tries new ones, and a failure names its seed. */
fc.configureGlobal({ seed: Number(process.env.PROVENDER_SEED ?? 1) });

export default fc;
