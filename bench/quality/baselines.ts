/** Figures of simple systems on the same test splits, measured once with our metrics: nDCG@10, R@5, R@10, MRR@10. */
export const baselines: Record<string, { run: string; figures: [string, string, string, string] }[]> = {
  locomo: [
    { run: 'FTS5, all words', figures: ['.001', '.001', '.001', '.002'] },
    { run: 'FTS5, any word', figures: ['.435', '.486', '.567', '.419'] },
    { run: 'BM25 tuned for this set', figures: ['.511', '.561', '.625', '.503'] },
    { run: 'MiniLM', figures: ['.287', '.344', '.421', '.262'] },
    { run: 'FTS5 + MiniLM, RRF 60', figures: ['.385', '.443', '.530', '.362'] },
    { run: 'BM25 tuned, neighbours + MiniLM windows', figures: ['.532', '.601', '.666', '.518'] },
  ],
  scifact: [
    { run: 'FTS5, any word', figures: ['.687', '.744', '.825', '.651'] },
    { run: 'MiniLM', figures: ['.637', '.721', '.772', '.598'] },
    { run: 'FTS5 + MiniLM, RRF 60', figures: ['.712', '.791', '.851', '.675'] },
    { run: 'BM25 tuned + MiniLM, min-max .5', figures: ['.722', '.785', '.843', '.688'] },
  ],
  cosqa: [
    { run: 'FTS5, any word', figures: ['.387', '.460', '.554', '.335'] },
    { run: 'MiniLM', figures: ['.583', '.686', '.788', '.518'] },
    { run: 'FTS5 + MiniLM, RRF 60', figures: ['.504', '.614', '.712', '.438'] },
    { run: 'BM25 tuned + MiniLM, min-max .85', figures: ['.593', '.700', '.806', '.525'] },
  ],
  'chroma-chunking': [
    { run: 'FTS5, any word', figures: ['.790', '.871', '.940', '.748'] },
    { run: 'MiniLM', figures: ['.690', '.786', '.872', '.644'] },
    { run: 'FTS5 + MiniLM, RRF 60', figures: ['.763', '.842', '.919', '.724'] },
    { run: 'BM25 tuned + MiniLM, min-max .4', figures: ['.816', '.898', '.954', '.777'] },
  ],
  cranfield: [{ run: 'FTS5, any word', figures: ['.348', '.270', '.377', '.504'] }],
  'xquad-r': [
    { run: 'FTS5, any word (mean of 11)', figures: ['.651', '', '', ''] },
    { run: 'BM25, Intl.Segmenter (mean of 11)', figures: ['.770', '', '', ''] },
  ],
};
