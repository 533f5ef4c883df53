// Loaded by a process before anything else (`--import`): on SIGUSR2, a fault that nothing handles.
process.on('SIGUSR2', () => {
  const error = new Error('nothing handles this');
  if (process.env.FAULT === 'a rejection') void Promise.reject(error);
  else
    setImmediate(() => {
      throw error;
    });
});
