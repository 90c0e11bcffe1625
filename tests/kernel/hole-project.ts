/** A project with holes that many have: its secrets, and what git starts by itself. */
import { Playground } from "./sealed-run.ts";

export const TABLE =
  'allow_globs = ["$T/proj"]\ndeny_globs = ["$T/proj/.env", "$T/proj/.git/hooks"]';

export function project(): Playground {
  const place = new Playground();
  place.file("proj/.env", "SECRET\n");
  place.file("proj/main.py");
  place.file("proj/src/x.py");
  place.file("proj/.git/hooks/pre-commit");
  place.file("proj/.git/config");
  place.file("outside/f");
  return place;
}
