import { KEY } from "./client.ts";
import type { TrialOutcome } from "./run-trial.ts";

export interface Row {
  readonly name: string;
  readonly expected: string;
  /** What came of it without Faraday and under it. */
  readonly bare: string;
  readonly caged: string;
  readonly ok: boolean;
}

/** Compares a run without Faraday, where everything must come about, with one under it. */
export function rowsOf(bare: TrialOutcome, caged: TrialOutcome): readonly Row[] {
  const rows = caged.outcomes.map(({ errand, cameAbout, recorded, answer }, index): Row => {
    const control = bare.outcomes[index]?.cameAbout ?? false;
    // A client that never came so far was stopped by something else.
    const reached = errand.refusal?.test(answer) ?? answer !== "";
    const stopped = !cameAbout && recorded && reached;
    return {
      name: errand.name,
      expected: errand.expect,
      bare: control ? "works" : "fails",
      caged: cameAbout ? "works" : !reached ? "fails" : recorded ? "stopped" : "no record",
      ok: control && (errand.expect === "works" ? cameAbout : stopped),
    };
  });
  return [...rows, keyRow(bare, caged), endRow(bare, caged)];
}

/** With a route it is the proxy that puts the key in. */
function keyRow(bare: TrialOutcome, caged: TrialOutcome): Row {
  const say = ({ keys }: TrialOutcome) => (keys.join() === KEY ? "works" : "fails");
  const ok = say(bare) === "works" && say(caged) === "works";
  const name = "show the model its key";
  return { name, expected: "works", bare: say(bare), caged: say(caged), ok };
}

function endRow(bare: TrialOutcome, caged: TrialOutcome): Row {
  const say = ({ ended, exit }: TrialOutcome) =>
    ended && exit === 0 ? "works" : `exit ${exit ?? "by signal"}`;
  const ok = say(bare) === "works" && say(caged) === "works";
  return { name: "finish", expected: "works", bare: say(bare), caged: say(caged), ok };
}

export function renderTable(rows: readonly Row[]): string {
  const head = ["errand", "expected", "without", "under Faraday", ""];
  const cells = [
    head,
    ...rows.map((row) => [row.name, row.expected, row.bare, row.caged, row.ok ? "ok" : "MISS"]),
  ];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`)
    .map((line) => line.trimEnd())
    .join("\n");
}
