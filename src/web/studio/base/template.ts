/** The content of a template, as Studio reads and writes it. */
import type { DashboardContent } from '../../../model/dashboard/dashboard.js';

/** The `data` of a dashboard export. Fields that Studio does not know are kept as they are. */
export type TemplateData = DashboardContent;
export type Card = TemplateData['layout'][number];
export type TemplateMetric = TemplateData['metrics'][number];
export type TemplateFilter = TemplateData['filters'][number];
