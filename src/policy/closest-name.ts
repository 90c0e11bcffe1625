const PREFIX_CHARACTERS_MIN = 3;

/** The candidate that the user most likely meant, or null if none is near. */
export function closestName(name: string, candidates: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(name.toLowerCase(), candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? longerName(name, candidates);
}

/** The one candidate that goes on where the user stopped: `claude` for `claude-code`. */
function longerName(name: string, candidates: readonly string[]): string | null {
  const longer = candidates.filter((candidate) => candidate.startsWith(name.toLowerCase()));
  return name.length >= PREFIX_CHARACTERS_MIN && longer.length === 1 ? (longer[0] ?? null) : null;
}

/** Levenshtein, with a swap of neighbours counted as one edit. */
function editDistance(a: string, b: string): number {
  // A name longer than this is no typing mistake, and the table would be quadratic in it.
  if (a.length > 64 || b.length > 64) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let edits = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits = Math.min(edits, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(edits);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
