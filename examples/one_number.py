"""One private number: the mean age of a survey, released once."""

import inbounds as ib

ages = [23, 35, 41, 58, 62, 19, 44, 37, 51, 29]  # private
true_mean = sum(ages) / len(ages)

# One person out of 10 may change their age anywhere in [0, 120]: the mean moves by at most 12.
m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120 / len(ages), epsilon=1.0)
answer = m.release(true_mean)

print(m)
print(f"private mean      {answer:.1f} (always between 0 and 120)")
print(f"standard error    {m.mse(60) ** 0.5:.1f} for a mean of 60")
print(f"denoised          {m.denoise(answer):.1f}")
print(f"certified epsilon {m.certificate().epsilon:.6f}")
