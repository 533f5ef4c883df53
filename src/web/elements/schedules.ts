/** Entry point of a chunk: a guest schedules reports and alerts. */
import { defineAll } from './define.js';
import { MailPage, MailPreview } from './mail-preview.js';
import { RecipientsField } from './recipients-field.js';
import { ScheduleForm } from './schedule-form.js';
import { SchedulesPanel } from './schedules-panel.js';

defineAll({
  'guestlist-schedules': SchedulesPanel,
  'guestlist-schedule-form': ScheduleForm,
  'guestlist-recipients': RecipientsField,
  'guestlist-mail-preview': MailPreview,
  'guestlist-mail-page': MailPage,
});
