/**
 * The operations that elements call, as routes below `/api/v2/guest/`. Each is a constant of its own, so that a chunk has
 * only those that it calls.
 */
export const getGuestDashboard = 'GET dashboards/{dashboardId}';
export const queryGuestDashboard = 'POST dashboards/{dashboardId}/query';
export const listGuestFilterOptions = 'POST dashboards/{dashboardId}/filters/{filter}/options';
export const getGuestMetric = 'GET metrics/{metricId}';
export const queryGuestMetric = 'POST metrics/{metricId}/query';
export const listGuestUnderlying = 'POST metrics/{metricId}/underlying';
export const downloadGuestCsv = 'POST metrics/{metricId}/csv';
export const downloadGuestXlsx = 'POST metrics/{metricId}/xlsx';
export const previewGuestMetric = 'POST metrics/preview';
export const saveGuestLayout = 'PUT dashboards/{dashboardId}/layout';
export const restoreGuestLayout = 'DELETE dashboards/{dashboardId}/layout';
export const listGuestViews = 'GET dashboards/{dashboardId}/views';
export const createGuestView = 'POST dashboards/{dashboardId}/views';
export const updateGuestView = 'PUT dashboards/{dashboardId}/views';
export const deleteGuestView = 'DELETE dashboards/{dashboardId}/views';
export const createGuestBoard = 'POST dashboards/{dashboardId}/boards';
export const getGuestBoard = 'GET dashboards/{dashboardId}/boards/{boardId}';
export const updateGuestBoard = 'PUT dashboards/{dashboardId}/boards/{boardId}';
export const deleteGuestBoard = 'DELETE dashboards/{dashboardId}/boards/{boardId}';
export const listGuestFields = 'GET dashboards/{dashboardId}/fields';
export const listGuestMetrics = 'GET dashboards/{dashboardId}/metrics';
export const createGuestMetric = 'POST dashboards/{dashboardId}/metrics';
export const updateGuestMetric = 'PUT metrics/{metricId}';
export const deleteGuestMetric = 'DELETE metrics/{metricId}';
export const archiveGuestMetric = 'POST metrics/{metricId}/archive';
export const publishGuestMetric = 'PUT metrics/{metricId}/publish';
export const getGuestMetricDefinition = 'GET metrics/{metricId}/definition';
export const summariseGuestDashboard = 'POST dashboards/{dashboardId}/summary';
export const listGuestSuggestions = 'GET dashboards/{dashboardId}/suggestions';
export const chatOnGuestDashboard = 'POST dashboards/{dashboardId}/chat';
