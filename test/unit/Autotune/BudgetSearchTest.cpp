//===- BudgetSearchTest.cpp ---------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/BudgetSearch.h"

#include "tarpon/Autotune/Search/Policy.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace tarpon;

TEST(BudgetSearchTest, TriesNoBudgetFirst) {
  BudgetSearch search;
  EXPECT_TRUE(std::isinf(search.getNext().value()));
  search.record(0.3, true);
  EXPECT_FALSE(search.getNext());
}

TEST(BudgetSearchTest, GoesDownUntilAPlanIsFineAndThenBetween) {
  BudgetSearch search;
  (void)search.getNext();
  search.record(0.4, false);
  EXPECT_DOUBLE_EQ(search.getNext().value(), 0.2);
  // A plan may have less error than its budget, or more.
  search.record(0.1, false);
  EXPECT_DOUBLE_EQ(search.getNext().value(), 0.05);
  search.record(0.025, true);
  EXPECT_DOUBLE_EQ(search.getNext().value(), 0.05);
  search.record(0.04, true);
  EXPECT_DOUBLE_EQ(search.getNext().value(), std::sqrt(0.04 * 0.1));
  search.record(0.06, false);
  EXPECT_FALSE(search.getNext());
}

TEST(BudgetSearchTest, GoesOnWhereABudgetLedToAnOldPlan) {
  BudgetSearch search;
  (void)search.getNext();
  search.record(0.4, false);
  (void)search.getNext();
  search.recordNone(/*mayImprove=*/true);
  EXPECT_DOUBLE_EQ(search.getNext().value(), 0.1);
  search.recordNone(/*mayImprove=*/false);
  EXPECT_FALSE(search.getNext());
}

TEST(BudgetSearchTest, Ends) {
  BudgetSearch search;
  (void)search.getNext();
  search.recordNone(/*mayImprove=*/true);
  EXPECT_FALSE(search.getNext());

  BudgetSearch hopeless;
  int budgets = 0;
  while (std::optional<double> budget = hopeless.getNext()) {
    hopeless.record(std::min(*budget, 1.0), false);
    ++budgets;
  }
  EXPECT_LT(budgets, 20);

  BudgetSearch exact;
  (void)exact.getNext();
  exact.record(0.1, false);
  (void)exact.getNext();
  exact.record(0, true);
  EXPECT_GT(exact.getNext().value(), 0);
}
