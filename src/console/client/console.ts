// Enhances pages beyond links and forms. Everything also works without this script.
import { restoreBase } from './base.ts';
import { watchCopyButtons } from './copy.ts';
import { watchKeys } from './keys.ts';
import { watchLiveForms, watchRefreshes } from './live.ts';
import { watchPdfPages } from './pdf-figures.ts';
import { watchPlots } from './plots.ts';
import { watchSearch } from './search.ts';
import { watchSelecting } from './select.ts';
import { watchTimes } from './times.ts';
import { watchToasts } from './toasts.ts';
import { watchUploads } from './upload.ts';

restoreBase();
watchTimes();
watchToasts();
watchCopyButtons();
watchKeys();
watchLiveForms();
watchRefreshes();
watchSearch();
watchUploads();
watchSelecting();
watchPlots();
watchPdfPages();
